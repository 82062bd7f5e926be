// SPDX-License-Identifier: Apache-2.0
//
// When a reading is made that is too expensive for every turn.
//
//   turn      0  1  2  3  4  5  6  7  8  9  10 11
//   period 1  x  x  x  x  x  x  x  x  x  x  x  x
//   period 5     x              x              x       the readings of one period take different turns,
//   period 5        x              x                   in the order of their table
#pragma once

#include <cstddef>
#include <cstdint>

namespace rangefinder {

/// `index`: the reading's place in its table. `period`: turns between two readings, at least 1.
[[nodiscard]] constexpr bool is_reading_due(std::uint64_t turn, std::size_t index,
                                            std::uint32_t period) noexcept {
  return turn % period == index % period;
}

}  // namespace rangefinder
