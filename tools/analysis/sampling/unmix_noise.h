// SPDX-License-Identifier: Apache-2.0
//
// A noise model of a sample's bytes, relative to overlap times rate; fitted to the residuals.
//
//   variance = floor^2                              constant noise
//            + spread^2 * sum (overlap * rate)^2    launches of one group differ
//            + edge_ns^2 * (rates cut at an edge)^2 times are inexact, and rates vary within a kernel
//
// Gives samples their weights: one sample with a light kernel alone has more information about it than a
// hundred shared with a heavy kernel. Also sets how far replicas (unmix_replicas.h) are perturbed.
#pragma once

#include <array>
#include <span>

#include "tools/analysis/sampling/unmix_blocks.h"

namespace rangefinder {

struct NoiseModel {
  double floor_units = 8;
  double spread = 0.1;
  double edge_ns = 200;

  [[nodiscard]] double variance(const UnmixRow& row, std::span<const double> rates) const noexcept;
};

/// Fits the three parameters to residuals, weighted by the model `before`.
class NoiseFit {
 public:
  explicit NoiseFit(const NoiseModel& before) : before_(before) {}
  void add(const UnmixRow& row, std::span<const double> rates, double residual_units) noexcept;
  /// Returns `before` if too few rows were added.
  [[nodiscard]] NoiseModel model() const noexcept;

 private:
  static constexpr std::size_t kTerms = 3;
  NoiseModel before_;
  std::array<std::array<double, kTerms>, kTerms> matrix_{};
  std::array<double, kTerms> right_side_{};
  std::uint64_t rows_ = 0;
};

}  // namespace rangefinder
