// SPDX-License-Identifier: Apache-2.0
//
// Values of samples by the cheap way, once it has proven itself against CUPTI's own.
//
//   first kProven samples that are not idle: both ways ─▶ bit for bit the same? ─ yes ─▶ the cheap way alone
//                                                                                 └ no ──▶ CUPTI's, for good
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "profiler/counters/metrics/metric_config.h"

namespace rangefinder {

class PmValues {
 public:
  /// One sample of a counter image; false: no values.
  using Cheap =
      std::function<bool(std::span<const std::uint8_t> image, std::size_t sample, std::span<double> values)>;
  static constexpr std::uint32_t kProven = 64;

  /// `config` outlives this. `cheap` may be empty.
  PmValues(MetricConfig& config, Cheap cheap) : config_(config), cheap_(std::move(cheap)) {}

  /// As MetricConfig::evaluate(), but that the cheap way takes no number for no error. One thread at a time.
  [[nodiscard]] CUptiResult evaluate(std::span<const std::uint8_t> image, std::size_t sample,
                                     std::span<double> values);

  /// The cheap way alone is taken.
  [[nodiscard]] bool is_cheap() const noexcept { return cheap_ && agreed_ >= kProven; }

 private:
  void compare(std::span<const std::uint8_t> image, std::size_t sample, std::span<const double> values);

  MetricConfig& config_;
  Cheap cheap_;
  std::uint32_t agreed_ = 0;  // samples
  std::vector<double> other_;
};

}  // namespace rangefinder
