// SPDX-License-Identifier: Apache-2.0
//
// The normal equations of millions of rows and tens of thousands of unknowns.
//
//   rows (sample = sum of overlap times rate) ─▶ NormalEquations ─▶ non_negative_solver.h ─▶ rates
//
// Only groups that share a sample have a common entry. So the matrix is sparse, and memory grows with those
// pairs, not with the rows. A prior makes every group's rate unique.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tools/analysis/sampling/unmix_blocks.h"

namespace rangefinder {

/// Sums of weighted products of overlaps. Symmetric: each pair of groups is stored once.
class NormalEquations {
 public:
  /// A program that repeats itself has fewer pairs of groups.
  static constexpr std::size_t kMaxPairs = std::size_t{1} << 21;

  /// Each group has two unknowns: a head rate and a tail rate.
  explicit NormalEquations(std::size_t groups);

  /// `units` of one sample; `weight`: 1 / variance.
  void add_row(std::span<const RowEntry> entries, double units, double weight);
  /// kMaxPairs was reached and rows are missing.
  [[nodiscard]] bool overfull() const noexcept { return overfull_; }
  [[nodiscard]] const std::vector<double>& diagonal() const noexcept { return diagonal_; }
  [[nodiscard]] const std::vector<double>& right_side() const noexcept { return right_side_; }
  /// By group: the product of its head and its tail.
  [[nodiscard]] const std::vector<double>& own() const noexcept { return own_; }

  struct Pair {
    std::uint32_t low = 0, high = 0;                                    ///< groups; high 0: empty slot
    double head_head = 0, head_tail = 0, tail_head = 0, tail_tail = 0;  ///< of low and of high
  };
  /// The hash table, including empty slots.
  [[nodiscard]] const std::vector<Pair>& pairs() const noexcept { return pairs_; }

 private:
  [[nodiscard]] Pair& pair_of(std::uint32_t low, std::uint32_t high);
  void grow();

  std::vector<double> diagonal_, right_side_, own_;
  std::vector<Pair> pairs_;  // hash table with open addressing, size a power of two
  std::size_t used_ = 0;
  bool overfull_ = false;
};

/// Rates assumed before any sample, with their precision, 1 / variance.
struct PriorRates {
  std::vector<double> rate;
  std::vector<double> precision;  ///< above 0
};

}  // namespace rangefinder
