// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/unmix_equations.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rangefinder {
namespace {

constexpr std::size_t kFirstPlaces = 1024;  // a power of two
constexpr int kMaxSweeps = 400;
// The descent ends when a sweep moves no rate by more than this part of its prior deviation.
constexpr double kSettled = 1e-6;

std::size_t hash_of(std::uint32_t low, std::uint32_t high) noexcept {
  const std::uint64_t key = (std::uint64_t{low} << 32 | high) * 0x9E37'79B9'7F4A'7C15ULL;
  return static_cast<std::size_t>(key ^ (key >> 29));
}

}  // namespace

NormalEquations::NormalEquations(std::size_t groups)
    : diagonal_(2 * groups), right_side_(2 * groups), pairs_(kFirstPlaces) {}

void NormalEquations::add_row(std::span<const RowEntry> entries, double units, double weight) {
  if (overfull_) return;
  terms_.clear();
  for (const RowEntry& entry : entries) {
    terms_.emplace_back(static_cast<std::uint32_t>(head_of(entry.group)), entry.head_ns);
    terms_.emplace_back(static_cast<std::uint32_t>(tail_of(entry.group)), entry.tail_ns);
  }
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    const auto [rate, ns] = terms_[i];
    diagonal_[rate] += weight * ns * ns;
    right_side_[rate] += weight * ns * units;
    for (std::size_t j = 0; j < i; ++j) {
      const auto [low, high] = std::minmax(rate, terms_[j].first);
      pair_of(low, high).sum += weight * ns * terms_[j].second;
    }
  }
}

NormalEquations::Pair& NormalEquations::pair_of(std::uint32_t low, std::uint32_t high) {
  if (2 * used_ >= pairs_.size()) grow();
  for (std::size_t at = hash_of(low, high);; ++at) {
    Pair& pair = pairs_[at & (pairs_.size() - 1)];
    if (pair.low == low && pair.high == high) return pair;
    if (pair.high != 0) continue;  // taken: high > low >= 0
    pair.low = low;
    pair.high = high;
    overfull_ = ++used_ >= kMaxPairs;
    return pair;
  }
}

void NormalEquations::grow() {
  const std::vector<Pair> old = std::exchange(pairs_, std::vector<Pair>(2 * pairs_.size()));
  for (const Pair& pair : old) {
    if (pair.high == 0) continue;
    std::size_t at = hash_of(pair.low, pair.high);
    while (pairs_[at & (pairs_.size() - 1)].high != 0) ++at;
    pairs_[at & (pairs_.size() - 1)] = pair;
  }
}

NonNegativeSolver::NonNegativeSolver(const NormalEquations& equations)
    : diagonal_(equations.diagonal()), row_begin_(diagonal_.size() + 1) {
  for (const NormalEquations::Pair& pair : equations.pairs()) {
    if (pair.high == 0) continue;
    ++row_begin_[pair.low + 1];
    ++row_begin_[pair.high + 1];
  }
  for (std::size_t i = 1; i < row_begin_.size(); ++i) row_begin_[i] += row_begin_[i - 1];
  neighbours_.resize(row_begin_.back());
  std::vector<std::size_t> at(row_begin_.begin(), row_begin_.end() - 1);
  for (const NormalEquations::Pair& pair : equations.pairs()) {
    if (pair.high == 0) continue;
    neighbours_[at[pair.low]++] = {pair.high, pair.sum};
    neighbours_[at[pair.high]++] = {pair.low, pair.sum};
  }
}

double NonNegativeSolver::off_diagonal(std::size_t rate, std::span<const double> rates) const noexcept {
  double sum = 0;
  for (std::size_t i = row_begin_[rate]; i < row_begin_[rate + 1]; ++i) {
    sum += neighbours_[i].sum * rates[neighbours_[i].rate];
  }
  return sum;
}

void NonNegativeSolver::solve(std::span<const double> right_side, const PriorRates& prior,
                              std::vector<double>& rates) const {
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    double moved = 0;  // squared, in prior deviations
    for (std::size_t g = 0; g < diagonal_.size(); ++g) {
      const double precision = prior.precision[g];
      const double pull = right_side[g] - off_diagonal(g, rates) + precision * prior.rate[g];
      const double rate = std::max(0.0, pull / (diagonal_[g] + precision));
      const double step = rate - rates[g];
      moved = std::max(moved, step * step * precision);
      rates[g] = rate;
    }
    if (moved < kSettled * kSettled) return;
  }
}

std::vector<double> NonNegativeSolver::times(std::span<const double> rates) const {
  std::vector<double> product(diagonal_.size());
  for (std::size_t g = 0; g < product.size(); ++g) {
    product[g] = diagonal_[g] * rates[g] + off_diagonal(g, rates);
  }
  return product;
}

}  // namespace rangefinder
