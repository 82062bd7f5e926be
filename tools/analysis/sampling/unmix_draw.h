// SPDX-License-Identifier: Apache-2.0
//
// Pseudo-random numbers by key: deterministic, without state, in any order.
#pragma once

#include <cstdint>

namespace rangefinder {

/// The same bits for the same key on every machine.
[[nodiscard]] constexpr std::uint64_t drawn_bits(std::uint64_t key) noexcept {
  key += 0x9E37'79B9'7F4A'7C15ULL;
  key = (key ^ (key >> 30)) * 0xBF58'476D'1CE4'E5B9ULL;
  key = (key ^ (key >> 27)) * 0x94D0'49BB'1331'11EBULL;
  return key ^ (key >> 31);
}
/// Approximately normal, mean 0, deviation 1, within ± 3.5: the sum of four uniform numbers.
[[nodiscard]] constexpr double drawn_normal(std::uint64_t bits) noexcept {
  constexpr double kDeviation = 37'837.2;  // of the sum of four uniform 16-bit numbers
  const auto sum = (bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48);
  return (static_cast<double>(sum) - 2 * 65'535.0) / kDeviation;
}

}  // namespace rangefinder
