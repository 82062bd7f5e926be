// SPDX-License-Identifier: Apache-2.0
//
// Median and other quantiles of durations that come one by one, without keeping them.
//
//   0 … 127 ns   one bucket each
//   above        64 buckets an octave: 128-129, 130-131, …, 256-259, …
//
// A quantile is the middle of the bucket that holds it, never outside of what was seen: off by at
// most 1/128 of its value. Count, total, least and most are exact. Only the span of buckets in use is
// kept, 8 bytes each: some 500 bytes where durations differ by a factor of two, 29 KiB at worst.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rangefinder {

/// Pure, not thread-safe.
class DurationHistogram {
 public:
  void add(std::uint64_t ns);
  /// Of another place or rank.
  void add(const DurationHistogram& other);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// Stays at 2^64 - 1 once it would be more.
  [[nodiscard]] std::uint64_t total_ns() const noexcept { return total_ns_; }
  /// All 0 where nothing was added.
  [[nodiscard]] std::uint64_t min_ns() const noexcept { return min_ns_; }
  [[nodiscard]] std::uint64_t max_ns() const noexcept { return max_ns_; }
  [[nodiscard]] double mean_ns() const noexcept;
  /// Nearest rank: the least duration that `part` (0 to 1) of all do not exceed. 0.5: the median.
  [[nodiscard]] std::uint64_t quantile_ns(double part) const noexcept;

 private:
  /// The counter of a bucket; widens the span for it.
  std::uint64_t& at(std::size_t bucket);

  std::size_t first_ = 0;              // bucket that counts_[0] counts
  std::vector<std::uint64_t> counts_;  // from the lowest bucket in use to the highest
  std::uint64_t count_ = 0, total_ns_ = 0, min_ns_ = 0, max_ns_ = 0;
};

}  // namespace rangefinder
