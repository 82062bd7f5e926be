// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/unmix_replicas.h"

#include <algorithm>
#include <cmath>

#include "tools/analysis/sampling/unmix_draw.h"

namespace rangefinder {
namespace {

constexpr std::size_t kSignSamples = 4;
// Residuals are clamped to this many deviations: fits give outliers little weight too.
constexpr double kMaxResidualDeviations = 4;

std::uint64_t key_of(std::size_t replica, std::uint64_t what) noexcept {
  return drawn_bits(std::uint64_t{replica + 1} << 48 ^ what);
}

/// Sums of weight * overlap * residual with random signs, by replica and group.
Replicas drawn_misses(const FitData& data, TimeNs lag_ns, const RateFit& fit, NormalEquations& equations) {
  Replicas misses;
  for (std::vector<double>& sums : misses) sums.resize(2 * data.groups);
  std::uint64_t row_number = 0;
  for_each_row(data, SampleSet::all, lag_ns, [&](const UnmixRow& row, double units, std::size_t chunk) {
    const double variance = fit.noise.variance(row, fit.rates), deviation = std::sqrt(variance);
    const double residual = std::abs(units - predicted_units(row, fit.rates));
    const double miss = std::clamp(residual, deviation, kMaxResidualDeviations * deviation);
    equations.add_row(row.entries, units, 1 / variance);
    const std::uint64_t stretch = std::uint64_t{chunk} << 20 | row_number++ / kSignSamples;
    const std::uint64_t signs = drawn_bits(stretch);  // one bit per replica
    for (const RowEntry& entry : row.entries) {
      for (std::size_t k = 0; k < kReplicas; ++k) {
        const double pull = (signs >> k & 1 ? miss : -miss) / variance;
        misses[k][head_of(entry.group)] += pull * entry.head_ns;
        misses[k][tail_of(entry.group)] += pull * entry.tail_ns;
      }
    }
  });
  return misses;
}

std::vector<double> jitter_rates(const FitData& data, TimeNs lag_ns, const RateFit& fit,
                                 const PriorRates& prior) {
  FitData moved = data;
  moved.jitter_ns = fit.noise.edge_ns;
  NormalEquations equations(data.groups);
  for_each_row(moved, SampleSet::all, lag_ns, [&](const UnmixRow& row, double units, std::size_t) {
    equations.add_row(row.entries, units, 1 / fit.noise.variance(row, fit.rates));
  });
  std::vector<double> rates = fit.rates;
  NonNegativeSolver(equations).solve(equations.right_side(), prior, rates);
  return rates;
}

}  // namespace

Replicas unmixed_replicas(const FitData& data, TimeNs lag_ns, const RateFit& fit, const PriorRates& prior) {
  NormalEquations equations(data.groups);
  Replicas misses = drawn_misses(data, lag_ns, fit, equations);
  const NonNegativeSolver solver(equations);
  const std::vector<double> predicted = solver.times(fit.rates);

  Replicas replicas;
  replicas[kJitterReplica] = jitter_rates(data, lag_ns, fit, prior);
  for (std::size_t k = 0; k < kDrawnReplicas; ++k) {
    PriorRates drawn = prior;
    for (std::size_t i = 0; i < predicted.size(); ++i) {
      misses[k][i] += predicted[i];
      const double deviation = 1 / std::sqrt(prior.precision[i]);
      drawn.rate[i] = std::max(0.0, fit.rates[i] + deviation * drawn_normal(key_of(k, i)));
    }
    replicas[k] = fit.rates;
    solver.solve(misses[k], drawn, replicas[k]);
  }
  return replicas;
}

Replicas time_shared_replicas(const std::vector<double>& time_shared) {
  // Sharing by time has already pulled the rates together.
  constexpr double kMinSpread = 0.7, kMaxSpread = 2;
  double sum = 0, squares = 0, count = 0;
  for (const double rate : time_shared) {
    if (rate <= 0) continue;
    sum += std::log(rate);
    squares += std::log(rate) * std::log(rate);
    count += 1;
  }
  const double variance = count > 1 ? squares / count - sum * sum / (count * count) : 0;
  const double spread = std::clamp(std::sqrt(std::max(0.0, variance)), kMinSpread, kMaxSpread);
  Replicas replicas;
  for (std::size_t k = 0; k < kReplicas; ++k) {
    replicas[k].resize(time_shared.size());
    for (std::size_t i = 0; i < time_shared.size(); ++i) {
      replicas[k][i] = std::exp(spread * drawn_normal(key_of(k, i / 2)));
    }
  }
  return replicas;
}

}  // namespace rangefinder
