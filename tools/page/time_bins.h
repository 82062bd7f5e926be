// SPDX-License-Identifier: Apache-2.0
//
// Counts over time in a bounded number of bins, for times whose end is not known beforehand.
//
//   add(at, n)     at behind the last bin: neighbours merge, all bins become twice as wide
//
// Bins are powers of two wide and begin at time 0; what is earlier counts in the first. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

class TimeBins {
 public:
  /// `most`: bins, a power of two.
  explicit TimeBins(std::size_t most) : counts_(most, 0) {}

  void add(TimeNs at, std::uint64_t n = 1);
  [[nodiscard]] TimeNs width_ns() const noexcept { return TimeNs{1} << shift_; }
  [[nodiscard]] const std::vector<std::uint64_t>& counts() const noexcept { return counts_; }
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }

 private:
  std::vector<std::uint64_t> counts_;
  unsigned shift_ = 10;  // bins of a microsecond to begin with
  std::uint64_t total_ = 0;
};

}  // namespace rangefinder
