// SPDX-License-Identifier: Apache-2.0
//
// How far a mistyped name is from a known one: for "did you mean".
#pragma once

#include <cstddef>
#include <string_view>

namespace rangefinder {

/// Letters to insert, remove or replace until `a` is `b`.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace rangefinder
