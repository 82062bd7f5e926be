// SPDX-License-Identifier: Apache-2.0
//
// The median, the 95th percentile, and a standard deviation that outliers do not inflate.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace rangefinder {

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
