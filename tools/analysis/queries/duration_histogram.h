// SPDX-License-Identifier: Apache-2.0
//
// Median and other quantiles of a stream of durations, without storing the durations.
//
//   0 … 127 ns   one bucket each
//   above        64 buckets per octave: 128-129, 130-131, …, 256-259, …
//
// A quantile is the middle of its bucket, clamped to the minimum and maximum. Its error is at most 1/128 of
// its value. Count, total, minimum and maximum are exact. Memory is 8 bytes per bucket between the lowest and
// the highest in use: about 500 bytes if durations differ by a factor of two, at most 29 KiB.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rangefinder {

/// Not thread-safe.
class DurationHistogram {
 public:
  void add(std::uint64_t ns);
  /// Adds all durations of `other`, such as another path or rank.
  void add(const DurationHistogram& other);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// Saturates at 2^64 - 1.
  [[nodiscard]] std::uint64_t total_ns() const noexcept { return total_ns_; }
  /// Minimum, maximum, mean and quantiles are 0 if nothing was added.
  [[nodiscard]] std::uint64_t min_ns() const noexcept { return min_ns_; }
  [[nodiscard]] std::uint64_t max_ns() const noexcept { return max_ns_; }
  [[nodiscard]] double mean_ns() const noexcept;
  /// Nearest rank: the smallest duration that `part` (0 to 1) of all durations do not exceed. 0.5: median.
  [[nodiscard]] std::uint64_t quantile_ns(double part) const noexcept;

 private:
  /// The counter of a bucket; extends the span to it.
  std::uint64_t& at(std::size_t bucket);

  std::size_t first_ = 0;              // bucket of counts_[0]
  std::vector<std::uint64_t> counts_;  // from the lowest bucket in use to the highest
  std::uint64_t count_ = 0, total_ns_ = 0, min_ns_ = 0, max_ns_ = 0;
};

// Of values in memory: exact, and a standard deviation that outliers do not inflate.

/// The standard deviation of a normal distribution, over its MAD (median absolute deviation).
inline constexpr double kSigmaOfMad = 1.4826;

/// The mean of the two in the middle if their number is even. `values` is not empty.
[[nodiscard]] inline double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// With fewer values, the longest is shown instead.
inline constexpr std::size_t kMinForP95 = 20;

/// The 95th percentile by nearest rank. `values` is not empty.
[[nodiscard]] inline double p95_of(std::vector<double> values) {
  const std::size_t rank = (values.size() * 19 + 19) / 20 - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank), values.end());
  return values[rank];
}

}  // namespace rangefinder
