// SPDX-License-Identifier: Apache-2.0
//
// Non-negative least squares over millions of rows and tens of thousands of unknowns.
//
//   rows (sample = sum of overlap times rate) ─▶ NormalEquations ─▶ NonNegativeSolver ─▶ rates
//
// Only groups that share a sample have a common entry. So the matrix is sparse, and memory grows with those
// pairs, not with the rows. A prior makes every group's rate unique.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tools/analysis/sampling/unmix_blocks.h"

namespace rangefinder {

/// Sums of weighted products of overlaps. Symmetric: each pair is stored once.
class NormalEquations {
 public:
  /// A program that repeats itself has fewer pairs of groups.
  static constexpr std::size_t kMaxPairs = std::size_t{1} << 23;

  /// Each group has two unknowns: a head rate and a tail rate.
  explicit NormalEquations(std::size_t groups);

  /// `units` of one sample; `weight`: 1 / variance.
  void add_row(std::span<const RowEntry> entries, double units, double weight);
  /// kMaxPairs was reached and rows are missing.
  [[nodiscard]] bool overfull() const noexcept { return overfull_; }
  [[nodiscard]] const std::vector<double>& diagonal() const noexcept { return diagonal_; }
  [[nodiscard]] const std::vector<double>& right_side() const noexcept { return right_side_; }

  struct Pair {
    std::uint32_t low = 0, high = 0;  ///< positions of rates; both 0: empty slot
    double sum = 0;
  };
  /// The hash table, including empty slots.
  [[nodiscard]] const std::vector<Pair>& pairs() const noexcept { return pairs_; }

 private:
  [[nodiscard]] Pair& pair_of(std::uint32_t low, std::uint32_t high);
  void grow();

  std::vector<double> diagonal_, right_side_;
  std::vector<std::pair<std::uint32_t, double>> terms_;  // of one row: position of the rate, ns
  std::vector<Pair> pairs_;  // hash table with open addressing, size a power of two
  std::size_t used_ = 0;
  bool overfull_ = false;
};

/// Rates assumed before any sample, with their precision, 1 / variance.
struct PriorRates {
  std::vector<double> rate;
  std::vector<double> precision;  ///< above 0
};

/// Coordinate descent over the rows of the matrix. Reusable for several right sides.
class NonNegativeSolver {
 public:
  explicit NonNegativeSolver(const NormalEquations& equations);

  /// Minimises x'Ax - 2 right_side'x + sum of precision (x - prior)^2 over x >= 0, starting at `rates`.
  void solve(std::span<const double> right_side, const PriorRates& prior, std::vector<double>& rates) const;
  /// A times rates.
  [[nodiscard]] std::vector<double> times(std::span<const double> rates) const;

 private:
  [[nodiscard]] double off_diagonal(std::size_t rate, std::span<const double> rates) const noexcept;

  std::vector<double> diagonal_;
  std::vector<std::size_t> row_begin_;  // start of each rate's entries in neighbours_, then the end
  struct Neighbour {
    std::uint32_t rate;
    double sum;
  };
  std::vector<Neighbour> neighbours_;
};

}  // namespace rangefinder
