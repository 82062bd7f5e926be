// SPDX-License-Identifier: Apache-2.0
//
// How much slower this machine is than that of docs/internals/measured.md. Time goals are stated for that
// machine and stretched by this factor elsewhere, and under load.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace rangefinder {

/// Seconds of a loop like reading: 256 Mi bytes in order, a branch and a multiplication on each. Run it
/// before and after the measurement, and use the longer time.
inline double loop_seconds() {
  std::vector<char> bytes(std::size_t{64} << 20);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>('0' + i * 7 % 11);
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t hash = 1, groups = 0;
  for (int round = 0; round < 4; ++round) {
    for (const char c : bytes) {
      if (c == ':') ++groups;
      hash = hash * 10 + static_cast<unsigned char>(c - '0');
    }
  }
  const volatile std::uint64_t result = hash + groups;  // keeps the compiler from removing the loop
  static_cast<void>(result);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// At least 1: a faster machine has the same goals.
inline double times_slower(double loop_seconds_here) {
  constexpr double kLoopSecondsThere = 0.22;
  return std::max(1.0, loop_seconds_here / kLoopSecondsThere);
}

}  // namespace rangefinder
