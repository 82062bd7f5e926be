// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/unmix_noise.h"

#include <algorithm>
#include <cmath>

namespace rangefinder {
namespace {

constexpr std::uint64_t kMinRows = 200;
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

}  // namespace rangefinder
