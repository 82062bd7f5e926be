// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/unmix_fit.h"

#include <algorithm>
#include <cmath>

#include "tools/analysis/sampling/non_negative_solver.h"
#include "tools/analysis/sampling/unmix_draw.h"

namespace rangefinder {
namespace {

// The Huber threshold: a larger residual has no larger influence.
constexpr double kHuberDeviations = 3;
constexpr double kMaxSquaredError = 25;
// The prior deviation of a group that moves almost nothing, as a part of the mean rate.
constexpr double kMinPriorPart = 0.02;

constexpr std::uint64_t kMinRows = 200;
// Three parameters need no more blocks.
constexpr std::size_t kNoiseBlocks = 256;
constexpr double kMinFloorUnits = 2, kMinSpread = 0.01, kMinEdgeNs = 20;
constexpr double kMaxSpread = 1, kMaxEdgeNs = 3'000;
// Residuals are clamped to this many deviations: a cold first launch is not typical of the others.
constexpr double kMaxDeviations = 4;

struct Terms {
  double bytes = 0;  // sum (overlap * rate)^2
  double edges = 0;  // (rates cut at the start)^2 + (at the end)^2
};

Terms terms_of(const UnmixRow& row, std::span<const double> rates) noexcept {
  Terms terms;
  double at_start = 0, at_end = 0;
  for (const RowEntry& entry : row.entries) {
    const double units = entry.units(rates), rate = units / entry.ns();
    terms.bytes += units * units;
    if (entry.cut_at_start) at_start += rate;
    if (entry.cut_at_end) at_end += rate;
  }
  terms.edges = at_start * at_start + at_end * at_end;
  return terms;
}

double mean_of(const std::vector<double>& rates) noexcept {
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return rates.empty() ? 0 : sum / static_cast<double>(rates.size());
}

NoiseModel first_noise(const std::vector<double>& rates) noexcept {
  NoiseModel noise;
  noise.floor_units += mean_of(rates) * noise.edge_ns;
  return noise;
}

}  // namespace

double NoiseModel::variance(const UnmixRow& row, std::span<const double> rates) const noexcept {
  const Terms terms = terms_of(row, rates);
  return floor_units * floor_units + spread * spread * terms.bytes + edge_ns * edge_ns * terms.edges;
}

void NoiseFit::add(const UnmixRow& row, std::span<const double> rates, double residual_units) noexcept {
  const Terms terms = terms_of(row, rates);
  const double variance = before_.variance(row, rates);
  const double square = std::min(residual_units * residual_units, kMaxDeviations * kMaxDeviations * variance);
  // The deviation of a squared residual is about as large as its expectation.
  const std::array<double, kTerms> scaled{1 / variance, terms.bytes / variance, terms.edges / variance};
  for (std::size_t i = 0; i < kTerms; ++i) {
    for (std::size_t j = 0; j < kTerms; ++j) matrix_[i][j] += scaled[i] * scaled[j];
    right_side_[i] += scaled[i] * square / variance;
  }
  ++rows_;
}

NoiseModel NoiseFit::model() const noexcept {
  if (rows_ < kMinRows) return before_;
  std::array<double, kTerms> x{before_.floor_units * before_.floor_units, before_.spread * before_.spread,
                               before_.edge_ns * before_.edge_ns};
  for (int sweep = 0; sweep < 500; ++sweep) {
    for (std::size_t i = 0; i < kTerms; ++i) {
      if (matrix_[i][i] <= 0) continue;
      double rest = right_side_[i];
      for (std::size_t j = 0; j < kTerms; ++j) rest -= j == i ? 0 : matrix_[i][j] * x[j];
      x[i] = std::max(0.0, rest / matrix_[i][i]);
    }
  }
  NoiseModel model;
  model.floor_units = std::max(kMinFloorUnits, std::sqrt(x[0]));
  model.spread = std::clamp(std::sqrt(x[1]), kMinSpread, kMaxSpread);
  model.edge_ns = std::clamp(std::sqrt(x[2]), kMinEdgeNs, kMaxEdgeNs);
  return model;
}

SampleBlock jittered(const SampleBlock& block, double jitter_ns) {
  SampleBlock moved = block;
  for (OrderedWork& work : moved.work) {
    // Depends only on the work itself, so a launch in two blocks moves equally in both.
    const std::uint64_t key =
        drawn_bits(static_cast<std::uint64_t>(work.start_ns) ^ std::uint64_t{work.kind} << 48);
    const TimeNs start = work.start_ns + std::llround(jitter_ns * drawn_normal(key));
    const TimeNs end = work.end_ns + std::llround(jitter_ns * drawn_normal(drawn_bits(key)));
    work.start_ns = std::min(start, end);
    work.end_ns = std::max(start, end) + 1;
  }
  std::sort(moved.work.begin(), moved.work.end(),
            [](const OrderedWork& a, const OrderedWork& b) { return a.start_ns < b.start_ns; });
  return moved;
}

double predicted_units(const UnmixRow& row, std::span<const double> rates) noexcept {
  double units = 0;
  for (const RowEntry& entry : row.entries) units += entry.units(rates);
  return units;
}

std::vector<double> time_shared_rates(const FitData& data, SampleSet set, TimeNs lag_ns) {
  std::vector<double> units(data.groups), ns(data.groups);
  double all_units = 0, all_ns = 0;
  for_each_row(data, set, lag_ns, [&](const UnmixRow& row, double sample_units, std::size_t) {
    double row_ns = 0;
    for (const RowEntry& entry : row.entries) row_ns += entry.ns();
    for (const RowEntry& entry : row.entries) {
      units[entry.group] += std::max(0.0, sample_units) * entry.ns() / row_ns;
      ns[entry.group] += entry.ns();
    }
    all_units += std::max(0.0, sample_units);
    all_ns += row_ns;
  });
  const double mean = all_ns > 0 ? all_units / all_ns : 0;
  std::vector<double> rates(2 * data.groups);
  for (std::uint32_t g = 0; g < data.groups; ++g) {
    rates[head_of(g)] = rates[tail_of(g)] = ns[g] > 0 ? units[g] / ns[g] : mean;
  }
  return rates;
}

PriorRates prior_of(const std::vector<double>& time_shared) {
  const double min_deviation = std::max(kMinPriorPart * mean_of(time_shared), 1e-9);
  PriorRates prior{time_shared, std::vector<double>(time_shared.size())};
  for (std::size_t g = 0; g < time_shared.size(); ++g) {
    const double deviation = std::max(time_shared[g], min_deviation);
    prior.precision[g] = 1 / (deviation * deviation);
  }
  return prior;
}

RateFit fit_rates(const FitData& data, SampleSet set, TimeNs lag_ns, const std::vector<double>& time_shared,
                  int rounds, const std::vector<double>& near) {
  const PriorRates prior = prior_of(time_shared);
  RateFit fit{time_shared, first_noise(time_shared), true};
  for (int round = 0; round < rounds && fit.valid; ++round) {
    NormalEquations equations(data.groups);
    for_each_row(data, set, lag_ns, [&](const UnmixRow& row, double units, std::size_t) {
      const double variance = fit.noise.variance(row, fit.rates);
      const double deviations = std::abs(units - predicted_units(row, fit.rates)) / std::sqrt(variance);
      // The first round has time-shared rates, which cannot identify outliers.
      const double trust = round == 0 ? 1 : std::min(1.0, kHuberDeviations / std::max(deviations, 1e-9));
      equations.add_row(row.entries, units, trust / variance);
    });
    fit.valid = !equations.overfull();
    if (!fit.valid) break;
    if (round == 0) fit.rates = near;
    NonNegativeSolver(equations).solve(equations.right_side(), prior, fit.rates);

    NoiseFit noise(fit.noise);
    for_each_row(data.some(kNoiseBlocks), set, lag_ns, [&](const UnmixRow& row, double units, std::size_t) {
      noise.add(row, fit.rates, units - predicted_units(row, fit.rates));
    });
    fit.noise = noise.model();
  }
  return fit;
}

double prediction_error(const FitData& data, SampleSet set, TimeNs lag_ns, std::span<const double> rates,
                        const RateFit& scale) {
  double sum = 0;
  std::uint64_t rows = 0;
  for_each_row(data, set, lag_ns, [&](const UnmixRow& row, double units, std::size_t) {
    const double residual = units - predicted_units(row, rates);
    const double variance = scale.noise.variance(row, scale.rates);
    sum += std::min(kMaxSquaredError, residual * residual / variance);
    ++rows;
  });
  return rows == 0 ? 0 : sum / static_cast<double>(rows);
}

}  // namespace rangefinder
