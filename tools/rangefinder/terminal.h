// SPDX-License-Identifier: Apache-2.0
//
// What a table may assume about where it is written to.
#pragma once

#include <cstddef>

namespace rangefinder {

/// NO_COLOR before CLICOLOR_FORCE before CLICOLOR=0 before "is it a terminal".
[[nodiscard]] bool use_colour(int file);

/// COLUMNS if set, else the terminal's width, else 120.
[[nodiscard]] std::size_t line_width(int file);

}  // namespace rangefinder
