// SPDX-License-Identifier: Apache-2.0
//
// Evaluates samples by a fast path, after verifying it against CUPTI's own evaluation.
//
//   first kProven samples that are not all 0: both ─▶ bit for bit equal? ─ yes ─▶ fast path only
//                                                                        └ no ──▶ CUPTI only, from then on
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "profiler/counters/metrics/metric_config.h"

namespace rangefinder {

class PmValues {
 public:
  /// Evaluates one sample of a counter image. False: no values.
  using FastPath =
      std::function<bool(std::span<const std::uint8_t> image, std::size_t sample, std::span<double> values)>;
  static constexpr std::uint32_t kProven = 64;

  /// `config` outlives this. `fast` may be empty.
  PmValues(MetricConfig& config, FastPath fast) : config_(config), fast_(std::move(fast)) {}

  /// Like MetricConfig::evaluate(), except that for the fast path a NaN is no error. One thread at a time.
  [[nodiscard]] CUptiResult evaluate(std::span<const std::uint8_t> image, std::size_t sample,
                                     std::span<double> values);

  /// Only the fast path is used.
  [[nodiscard]] bool uses_fast_path() const noexcept { return fast_ && agreed_ >= kProven; }

 private:
  void compare(std::span<const std::uint8_t> image, std::size_t sample, std::span<const double> values);

  MetricConfig& config_;
  FastPath fast_;
  std::uint32_t agreed_ = 0;  // samples
  std::vector<double> fast_values_;
};

}  // namespace rangefinder
