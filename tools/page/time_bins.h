// SPDX-License-Identifier: Apache-2.0
//
// Counts over time in a fixed number of bins, if the last time is not known in advance.
//
//   add(at, n)     `at` is beyond the last bin: neighbours merge, all bins become twice as wide
//
// The width of a bin is a power of two. The first bin starts at 0 and also counts earlier times. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

class TimeBins {
 public:
  /// `bins`: number of bins, a power of two.
  explicit TimeBins(std::size_t bins) : counts_(bins, 0) {}

  void add(TimeNs at, std::uint64_t n = 1);
  [[nodiscard]] TimeNs width_ns() const noexcept { return TimeNs{1} << shift_; }
  [[nodiscard]] const std::vector<std::uint64_t>& counts() const noexcept { return counts_; }
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }

 private:
  std::vector<std::uint64_t> counts_;
  unsigned shift_ = 10;  // initially bins of 1,024 ns
  std::uint64_t total_ = 0;
};

}  // namespace rangefinder
