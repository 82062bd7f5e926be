// SPDX-License-Identifier: Apache-2.0
//
// Properties of the terminal that tables are written to.
#pragma once

#include <cstddef>

namespace rangefinder {

class Verb;

/// Adds --color to a verb that shows colours. use_colour() follows it.
void add_color_option(Verb& verb);

/// In order of precedence: --color, NO_COLOR, CLICOLOR_FORCE, CLICOLOR=0 or TERM=dumb, isatty().
[[nodiscard]] bool use_colour(int file);

/// COLUMNS if set, else the terminal's width, else 120.
[[nodiscard]] std::size_t line_width(int file);

}  // namespace rangefinder
