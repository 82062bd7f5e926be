// SPDX-License-Identifier: Apache-2.0
//
// The median, and a standard deviation that outliers do not inflate.
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

}  // namespace rangefinder
