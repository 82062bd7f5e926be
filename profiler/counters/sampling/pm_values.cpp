// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/sampling/pm_values.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace rangefinder {
namespace {

bool is_same(double a, double b) noexcept {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

CUptiResult PmValues::evaluate(std::span<const std::uint8_t> image, std::size_t sample,
                               std::span<double> values) {
  if (uses_fast_path()) {
    if (fast_(image, sample, values)) return CUPTI_SUCCESS;
    fast_ = nullptr;
  }
  const CUptiResult result = config_.evaluate(image, sample, values);
  if (fast_ && result == CUPTI_SUCCESS) compare(image, sample, values);
  return result;
}

void PmValues::compare(std::span<const std::uint8_t> image, std::size_t sample,
                       std::span<const double> values) {
  // All zeros prove nothing.
  if (std::all_of(values.begin(), values.end(), [](double value) { return value == 0; })) return;
  fast_values_.assign(values.size(), 0.0);
  const bool same =
      fast_(image, sample, fast_values_) &&
      std::equal(values.begin(), values.end(), fast_values_.begin(), fast_values_.end(), is_same);
  if (same) {
    ++agreed_;
  } else {
    fast_ = nullptr;
  }
}

}  // namespace rangefinder
