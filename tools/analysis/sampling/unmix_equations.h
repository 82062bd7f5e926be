// SPDX-License-Identifier: Apache-2.0
//
// Non-negative least squares over millions of rows and tens of thousands of unknowns.
//
//   rows (sample = sum of overlap times rate) ─▶ NormalEquations ─▶ NonNegativeSolver ─▶ rates
//
// Only groups that meet in a sample share an entry, so the matrix is sparse, and memory grows with
// the pairs that meet, not with rows. A pull towards prior rates makes every group's rate unique.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tools/analysis/sampling/unmix_blocks.h"

namespace rangefinder {

/// Sums of weighted products of overlaps. Symmetric: a pair is there once.
class NormalEquations {
 public:
  /// More pairs of groups than this are no program that repeats itself.
  static constexpr std::size_t kMaxPairs = std::size_t{1} << 23;

  /// There are a head and a tail rate for each group.
  explicit NormalEquations(std::size_t groups);

  /// A sample's units and its weight, 1 / variance.
  void add_row(std::span<const RowEntry> entries, double units, double weight);
  /// kMaxPairs was reached and rows are missing.
  [[nodiscard]] bool overfull() const noexcept { return overfull_; }
  [[nodiscard]] const std::vector<double>& diagonal() const noexcept { return diagonal_; }
  [[nodiscard]] const std::vector<double>& right_side() const noexcept { return right_side_; }

  struct Pair {
    std::uint32_t low = 0, high = 0;  ///< positions of rates; both 0: free
    double sum = 0;
  };
  /// With free places in between.
  [[nodiscard]] const std::vector<Pair>& pairs() const noexcept { return pairs_; }

 private:
  [[nodiscard]] Pair& pair_of(std::uint32_t low, std::uint32_t high);
  void grow();

  std::vector<double> diagonal_, right_side_;
  std::vector<std::pair<std::uint32_t, double>> terms_;  // of a row: position of the rate, ns
  std::vector<Pair> pairs_;  // hash table with open addressing, size a power of two
  std::size_t used_ = 0;
  bool overfull_ = false;
};

/// Rates that are known before any sample, and how well: 1 / variance.
struct PriorRates {
  std::vector<double> rate;
  std::vector<double> precision;  ///< over 0
};

/// Coordinate descent over rows of the matrix. Solves for several right sides.
class NonNegativeSolver {
 public:
  explicit NonNegativeSolver(const NormalEquations& equations);

  /// Minimises x'Ax - 2 right_side'x + sum of precision (x - prior)^2 over x >= 0, from `rates` on.
  void solve(std::span<const double> right_side, const PriorRates& prior, std::vector<double>& rates) const;
  /// A times rates.
  [[nodiscard]] std::vector<double> times(std::span<const double> rates) const;

 private:
  [[nodiscard]] double off_diagonal(std::size_t rate, std::span<const double> rates) const noexcept;

  std::vector<double> diagonal_;
  std::vector<std::size_t> row_begin_;  // of each rate in neighbours_, and the end
  struct Neighbour {
    std::uint32_t rate;
    double sum;
  };
  std::vector<Neighbour> neighbours_;
};

}  // namespace rangefinder
