// SPDX-License-Identifier: Apache-2.0
//
// How far a sample's bytes lie from overlap times rate, as a model fitted to the residuals.
//
//   variance = floor^2                              what never goes away
//            + spread^2 * sum (overlap * rate)^2    launches of one group are not all alike
//            + edge_ns^2 * (rates cut at an edge)^2 times are off, and kernels not even from end to end
//
// Weighs samples against each other: one in which a light kernel runs alone says more of it than a
// hundred in which a heavy one runs too. Sets how far replicas (unmix_replicas.h) are shaken.
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

/// Fits the three to residuals, each weighed by what `before` thinks of it.
class NoiseFit {
 public:
  explicit NoiseFit(const NoiseModel& before) : before_(before) {}
  void add(const UnmixRow& row, std::span<const double> rates, double residual_units) noexcept;
  /// `before` where too little was added.
  [[nodiscard]] NoiseModel model() const noexcept;

 private:
  static constexpr std::size_t kTerms = 3;
  NoiseModel before_;
  std::array<std::array<double, kTerms>, kTerms> matrix_{};
  std::array<double, kTerms> right_side_{};
  std::uint64_t rows_ = 0;
};

}  // namespace rangefinder
