// SPDX-License-Identifier: Apache-2.0
//
// Rates of one column: fitted at one lag, tested on samples held back, shared by time for comparison.
//
//   blocks ─▶ time_shared_rates ─▶ fit_rates ─▶ prediction_error on the samples held back
//
// Every fifth stretch of kChunkSamples samples is held back. unmix.h makes the decisions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tools/analysis/sampling/unmix_blocks.h"
#include "tools/analysis/sampling/unmix_equations.h"
#include "tools/analysis/sampling/unmix_noise.h"

namespace rangefinder {

inline constexpr std::size_t kChunkSamples = 64;

enum class SampleSet : std::uint8_t { all, fitted, held_back };

/// What there is to fit: one column of these blocks.
struct FitData {
  std::span<const SampleBlock> blocks;
  std::size_t groups = 0;
  const BackgroundRates& background;
  std::size_t column = 0;
  double jitter_ns = 0;  ///< times of work are moved by about so much, each time the same way
};

/// The block with starts and ends of work moved, as if records were that much less true.
[[nodiscard]] SampleBlock jittered(const SampleBlock& block, double jitter_ns);

/// Calls on_row(row, units, chunk): units above the background, number of the stretch of samples.
template <typename OnRow>
void for_each_row(const FitData& data, SampleSet set, TimeNs lag_ns, OnRow&& on_row) {
  UnmixRows rows;
  SampleBlock moved;
  for (std::size_t b = 0; b < data.blocks.size(); ++b) {
    if (data.jitter_ns > 0) moved = jittered(data.blocks[b], data.jitter_ns);
    const SampleBlock& block = data.jitter_ns > 0 ? moved : data.blocks[b];
    const double background = data.background.of(block.gpu)[data.column];
    rows.run(block, lag_ns, [&](const UnmixRow& row) {
      const auto i = static_cast<std::size_t>(&row.sample - block.samples.data());
      const std::size_t chunk = b * (kBlockSamples / kChunkSamples) + i / kChunkSamples;
      const bool held_back = chunk % 5 == 2;
      if (set != SampleSet::all && held_back != (set == SampleSet::held_back)) return;
      on_row(row, row.sample.units[data.column] - background * row.sample.length_ns, chunk);
    });
  }
}

/// Rates of each group, each sample shared by time. A group without samples: the mean of all.
[[nodiscard]] std::vector<double> time_shared_rates(const FitData& data, SampleSet set, TimeNs lag_ns);

/// A weak pull towards `time_shared`: the deviation is as large as the rate itself.
[[nodiscard]] PriorRates prior_of(const std::vector<double>& time_shared);

struct RateFit {
  std::vector<double> rates;
  NoiseModel noise;
  bool valid = false;  ///< false: too many pairs of groups for equations
};

/// Fits rates and noise in turns, `rounds` times. Outliers count less.
[[nodiscard]] RateFit fit_rates(const FitData& data, SampleSet set, TimeNs lag_ns,
                                const std::vector<double>& time_shared, int rounds);

/// Mean squared error in deviations of `scale`, each sample's at most 25.
[[nodiscard]] double prediction_error(const FitData& data, SampleSet set, TimeNs lag_ns,
                                      std::span<const double> rates, const RateFit& scale);

/// Units that the rates predict for a row.
[[nodiscard]] double predicted_units(const UnmixRow& row, std::span<const double> rates) noexcept;

}  // namespace rangefinder
