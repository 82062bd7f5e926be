// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/non_negative_solver.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace rangefinder {
namespace {

constexpr int kMaxRounds = 40, kMaxSteps = 30, kMaxHalvings = 4;
// Conjugate gradients end when the residual is this part of the first.
constexpr double kGain = 0.1;
// A pivot of the incomplete factorisation is at least this part of the diagonal.
constexpr double kMinPivot = 1e-8;

// Rates with this many times the mean number of neighbours come last in the order.
constexpr std::size_t kManyNeighbours = 3;

/// Calls see(rate, other rate, sum) for each pair of rates.
template <typename See>
void each_pair(const NormalEquations& equations, See&& see) {
  for (std::uint32_t g = 0; g < equations.own().size(); ++g) {
    if (equations.own()[g] != 0) see(head_of(g), tail_of(g), equations.own()[g]);
  }
  for (const NormalEquations::Pair& pair : equations.pairs()) {
    if (pair.high == 0) continue;
    see(head_of(pair.low), head_of(pair.high), pair.head_head);
    see(head_of(pair.low), tail_of(pair.high), pair.head_tail);
    see(tail_of(pair.low), head_of(pair.high), pair.tail_head);
    see(tail_of(pair.low), tail_of(pair.high), pair.tail_tail);
  }
}

}  // namespace

/// One right side and one prior.
class NonNegativeSolver::Descent {
 public:
  Descent(const NonNegativeSolver& matrix, std::span<const double> right_side, const PriorRates& prior)
      : matrix_(matrix),
        precision_(matrix.in_order(prior.precision)),
        diagonal_(matrix.diagonal_),
        pull_(matrix.in_order(right_side)),
        factor_(matrix.lower_.size()),
        row_(diagonal_.size()),
        inverse_pivots_(diagonal_.size()) {
    for (std::size_t i = 0; i < diagonal_.size(); ++i) {
      diagonal_[i] += precision_[i];
      pull_[i] += precision_[i] * prior.rate[matrix.order_[i]];
    }
  }

  /// Returns the largest move of a rate, squared, in prior deviations.
  double sweep(std::vector<double>& rates) const {
    double moved = 0;
    for (std::size_t i = 0; i < rates.size(); ++i) {
      const double rate = std::max(0.0, (pull_[i] - matrix_.off_diagonal(i, rates)) / diagonal_[i]);
      const double step = rate - rates[i];
      moved = std::max(moved, step * step * precision_[i]);
      rates[i] = rate;
    }
    return moved;
  }

  /// Moves the rates above 0 towards their solution.
  void descend(std::vector<double>& rates) {
    free_.clear();
    for (std::uint32_t i = 0; i < rates.size(); ++i) {
      if (rates[i] > 0) free_.push_back(i);
    }
    factorise(rates);
    const std::vector<double> moves = conjugate_gradients(rates);
    std::vector<double> moved(rates);
    bool bounded = false;
    for (const std::uint32_t i : free_) {
      bounded = bounded || rates[i] + moves[i] < 0;
      moved[i] = std::max(0.0, rates[i] + moves[i]);
    }
    if (bounded) {
      const double before = objective(rates);
      double part = 1;
      for (int halving = 0; objective(moved) >= before; ++halving) {
        if (halving == kMaxHalvings) return;
        part /= 2;
        for (const std::uint32_t i : free_) moved[i] = std::max(0.0, rates[i] + part * moves[i]);
      }
    }
    rates = std::move(moved);
  }

 private:
  /// Incomplete Cholesky factors of the rows and columns of free rates, without fill. A row whose pivot would
  /// be too small without the fill has only its diagonal.
  void factorise(const std::vector<double>& rates) {
    for (const std::uint32_t i : free_) {
      const std::size_t begin = matrix_.lower_begin_[i], end = matrix_.lower_begin_[i + 1];
      for (std::size_t k = begin; k < end; ++k)
        row_[matrix_.lower_[k]] = matrix_.neighbours_[matrix_.row_begin_[i] + k - begin].sum;
      double pivot = diagonal_[i];
      for (std::size_t at = begin; at < end; ++at) {
        const std::uint32_t k = matrix_.lower_[at];
        double sum = 0;
        if (rates[k] > 0) {
          sum = row_[k];
          for (std::size_t of_k = matrix_.lower_begin_[k]; of_k < matrix_.lower_begin_[k + 1]; ++of_k) {
            sum -= factor_[of_k] * row_[matrix_.lower_[of_k]];
          }
          sum *= inverse_pivots_[k];
        }
        row_[k] = factor_[at] = sum;
        pivot -= sum * sum;
      }
      for (std::size_t at = begin; at < end; ++at) row_[matrix_.lower_[at]] = 0;
      if (pivot < kMinPivot * diagonal_[i]) {
        pivot = diagonal_[i];
        for (std::size_t at = begin; at < end; ++at) factor_[at] = 0;
      }
      inverse_pivots_[i] = 1 / std::sqrt(pivot);
    }
  }

  /// Solves with the factors; entries of rates that are not free stay as they are.
  void precondition(const std::vector<double>& residual, std::vector<double>& out) const {
    for (const std::uint32_t i : free_) {
      double sum = residual[i];
      for (std::size_t at = matrix_.lower_begin_[i]; at < matrix_.lower_begin_[i + 1]; ++at) {
        sum -= factor_[at] * out[matrix_.lower_[at]];
      }
      out[i] = sum * inverse_pivots_[i];
    }
    for (auto i = free_.rbegin(); i != free_.rend(); ++i) {
      const double value = out[*i] * inverse_pivots_[*i];
      out[*i] = value;
      for (std::size_t at = matrix_.lower_begin_[*i]; at < matrix_.lower_begin_[*i + 1]; ++at) {
        out[matrix_.lower_[at]] -= factor_[at] * value;
      }
    }
  }

  std::vector<double> conjugate_gradients(const std::vector<double>& rates) const {
    std::vector<double> moves(rates.size()), residual(rates.size()), direction(rates.size()),
        image(rates.size()), preconditioned(rates.size());
    for (const std::uint32_t i : free_)
      residual[i] = pull_[i] - diagonal_[i] * rates[i] - matrix_.off_diagonal(i, rates);
    precondition(residual, preconditioned);
    double energy = 0;
    for (const std::uint32_t i : free_) {
      direction[i] = preconditioned[i];
      energy += residual[i] * direction[i];
    }
    const double enough = kGain * kGain * energy;
    for (int step = 0; step < kMaxSteps && energy > enough; ++step) {
      double curvature = 0;
      for (const std::uint32_t i : free_) {
        image[i] = diagonal_[i] * direction[i] + matrix_.off_diagonal(i, direction);
        curvature += direction[i] * image[i];
      }
      const double length = energy / curvature;
      for (const std::uint32_t i : free_) {
        moves[i] += length * direction[i];
        residual[i] -= length * image[i];
      }
      precondition(residual, preconditioned);
      double next = 0;
      for (const std::uint32_t i : free_) next += residual[i] * preconditioned[i];
      for (const std::uint32_t i : free_) direction[i] = preconditioned[i] + next / energy * direction[i];
      energy = next;
    }
    return moves;
  }

  [[nodiscard]] double objective(const std::vector<double>& rates) const {
    double sum = 0;
    for (std::size_t i = 0; i < rates.size(); ++i) {
      if (rates[i] == 0) continue;
      sum += rates[i] * (0.5 * (diagonal_[i] * rates[i] + matrix_.off_diagonal(i, rates)) - pull_[i]);
    }
    return sum;
  }

  const NonNegativeSolver& matrix_;
  std::vector<double> precision_, diagonal_, pull_;  // the last two with the prior
  std::vector<std::uint32_t> free_;                  // rates above 0
  std::vector<double> factor_;                       // by position in lower_
  std::vector<double> row_, inverse_pivots_;
};

NonNegativeSolver::NonNegativeSolver(const NormalEquations& equations)
    : order_(equations.diagonal().size()), row_begin_(order_.size() + 1), lower_begin_(row_begin_.size()) {
  std::vector<std::size_t> sizes(order_.size());
  std::size_t all = 0;
  const auto count = [&](std::size_t low, std::size_t high, double) {
    ++sizes[low];
    ++sizes[high];
    all += 2;
  };
  each_pair(equations, count);
  std::iota(order_.begin(), order_.end(), 0U);
  std::stable_partition(order_.begin(), order_.end(), [&](std::uint32_t rate) {
    return sizes[rate] * order_.size() <= kManyNeighbours * all;
  });
  std::vector<std::uint32_t> places(order_.size());
  for (std::uint32_t i = 0; i < order_.size(); ++i) {
    places[order_[i]] = i;
    diagonal_.push_back(equations.diagonal()[order_[i]]);
    row_begin_[i + 1] = row_begin_[i] + sizes[order_[i]];
  }
  neighbours_.resize(all);
  std::vector<std::size_t> at(row_begin_.begin(), row_begin_.end() - 1);
  each_pair(equations, [&](std::size_t low, std::size_t high, double sum) {
    const std::uint32_t a = places[low], b = places[high];
    neighbours_[at[a]++] = {b, sum};
    neighbours_[at[b]++] = {a, sum};
  });
  for (std::size_t i = 0; i < order_.size(); ++i) {
    std::sort(neighbours_.begin() + static_cast<std::ptrdiff_t>(row_begin_[i]),
              neighbours_.begin() + static_cast<std::ptrdiff_t>(row_begin_[i + 1]),
              [](const Neighbour& a, const Neighbour& b) { return a.place < b.place; });
    for (std::size_t k = row_begin_[i]; k < row_begin_[i + 1] && neighbours_[k].place < i; ++k) {
      lower_.push_back(neighbours_[k].place);
    }
    lower_begin_[i + 1] = lower_.size();
  }
}

double NonNegativeSolver::off_diagonal(std::size_t place, std::span<const double> ordered) const noexcept {
  double sum = 0;
  for (std::size_t i = row_begin_[place]; i < row_begin_[place + 1]; ++i) {
    sum += neighbours_[i].sum * ordered[neighbours_[i].place];
  }
  return sum;
}

void NonNegativeSolver::solve(std::span<const double> right_side, const PriorRates& prior,
                              std::vector<double>& rates) const {
  Descent descent(*this, right_side, prior);
  std::vector<double> ordered = in_order(rates);
  for (int round = 0; round < kMaxRounds; ++round) {
    if (descent.sweep(ordered) < kSettled * kSettled) break;
    descent.descend(ordered);
  }
  for (std::size_t i = 0; i < order_.size(); ++i) rates[order_[i]] = ordered[i];
}

std::vector<double> NonNegativeSolver::in_order(std::span<const double> values) const {
  std::vector<double> out;
  out.reserve(order_.size());
  for (const std::uint32_t rate : order_) out.push_back(values[rate]);
  return out;
}

std::vector<double> NonNegativeSolver::times(std::span<const double> rates) const {
  const std::vector<double> ordered = in_order(rates);
  std::vector<double> product(order_.size());
  for (std::size_t i = 0; i < order_.size(); ++i) {
    product[order_[i]] = diagonal_[i] * ordered[i] + off_diagonal(i, ordered);
  }
  return product;
}

}  // namespace rangefinder
