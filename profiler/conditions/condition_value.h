// SPDX-License-Identifier: Apache-2.0
//
// Access to ConditionValues and kConditions by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "schema/condition_record.h"

namespace rangefinder {

[[nodiscard]] inline std::optional<std::uint64_t>& value_of(ConditionValues& values,
                                                            Condition condition) noexcept {
  return values[static_cast<std::size_t>(condition)];
}
[[nodiscard]] inline const std::optional<std::uint64_t>& value_of(const ConditionValues& values,
                                                                  Condition condition) noexcept {
  return values[static_cast<std::size_t>(condition)];
}

/// Whether the change between two values is large enough to be written.
[[nodiscard]] constexpr bool is_change(std::size_t condition, std::uint64_t before,
                                       std::uint64_t now) noexcept {
  const std::uint64_t change = now > before ? now - before : before - now;
  return change != 0 && change >= kConditions[condition].least;
}

}  // namespace rangefinder
