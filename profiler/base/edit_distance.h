// SPDX-License-Identifier: Apache-2.0
//
// Distance between a mistyped name and a known one, for "did you mean".
#pragma once

#include <cstddef>
#include <string_view>

namespace rangefinder {

/// Characters to insert, remove or replace to turn `a` into `b` (Levenshtein distance).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace rangefinder
