// SPDX-License-Identifier: Apache-2.0
//
// Non-negative least squares.
//
//   NormalEquations ─▶ NonNegativeSolver ─▶ solve(right side, prior) ─▶ rates
//
// Sweeps of coordinates find which rates are 0, then conjugate gradients solve for the others (Moré and
// Toraldo, SIAM Journal on Optimization 1, 1991). Sweeps alone take hundreds, because neighbours in time
// share most of their samples. For the same reason an incomplete factorisation in order of time is almost
// exact, and a few steps of conjugate gradients are enough with it: work in time order makes an interval
// graph, which has no fill.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tools/analysis/sampling/unmix_equations.h"

namespace rangefinder {

/// Reusable for several right sides. Thread-safe.
class NonNegativeSolver {
 public:
  /// A sweep that moves no rate by more ends the solution; in prior deviations.
  static constexpr double kSettled = 1e-3;

  explicit NonNegativeSolver(const NormalEquations& equations);

  /// Minimises x'Ax - 2 right_side'x + sum of precision (x - prior)^2 over x >= 0, starting at `rates`.
  void solve(std::span<const double> right_side, const PriorRates& prior, std::vector<double>& rates) const;
  /// A times rates.
  [[nodiscard]] std::vector<double> times(std::span<const double> rates) const;

 private:
  class Descent;
  struct Neighbour {
    std::uint32_t place;
    double sum;
  };
  [[nodiscard]] double off_diagonal(std::size_t place, std::span<const double> ordered) const noexcept;
  [[nodiscard]] std::vector<double> in_order(std::span<const double> values) const;

  std::vector<std::uint32_t> order_;      // rates by place: in time, then those with many neighbours
  std::vector<double> diagonal_;          // by place, as all below
  std::vector<std::size_t> row_begin_;    // start of each rate's entries in neighbours_, then the end
  std::vector<Neighbour> neighbours_;     // ascending in each row
  std::vector<std::size_t> lower_begin_;  // the same for places in the lower triangle
  std::vector<std::uint32_t> lower_;
};

}  // namespace rangefinder
