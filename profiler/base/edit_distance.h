// SPDX-License-Identifier: Apache-2.0
//
// Distance between a mistyped name and known ones, for "did you mean".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rangefinder {

/// Characters to insert, remove or replace to turn `a` into `b` (Levenshtein distance).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// Up to three of `known`, nearest first; ties keep their order.
[[nodiscard]] std::vector<std::string> nearest_names(const std::vector<std::string>& known,
                                                     std::string_view name);

/// ": did you mean report?" if one of `known` is near enough to be meant; otherwise empty.
[[nodiscard]] std::string suggestion_text(const std::vector<std::string>& known, std::string_view name);

/// The same, or "; use a, b or c" with all of `known` if none is near.
[[nodiscard]] std::string suggestion_or_all_text(const std::vector<std::string>& known,
                                                 std::string_view name);

/// "a, b or c"
[[nodiscard]] std::string alternatives_text(const std::vector<std::string>& names);

}  // namespace rangefinder
