// SPDX-License-Identifier: Apache-2.0
//
// Fits the rates of one column at one lag, and tests them on held-out samples against sharing by time.
//
//   blocks ─▶ time_shared_rates ─▶ fit_rates ─▶ prediction_error on the held-out samples
//
// Every fifth chunk of kChunkSamples samples is held out. Single samples would not do: neighbours in time
// are too similar. unmix.cpp makes the decisions.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tools/analysis/sampling/unmix_blocks.h"
#include "tools/analysis/sampling/unmix_equations.h"

namespace rangefinder {

inline constexpr std::size_t kChunkSamples = 64;

enum class SampleSet : std::uint8_t { all, fitted, held_out };

/// The input of a fit: one column of the blocks.
struct FitData {
  std::span<const SampleBlock> blocks;
  std::size_t groups = 0;
  const BackgroundRates& background;
  std::size_t column = 0;
  Pace pace{};
  double jitter_ns = 0;    ///< deviation by which times of work are moved, the same in each pass
  std::size_t stride = 1;  ///< only every such block

  /// With at most about `limit` blocks, spread over the trace.
  [[nodiscard]] FitData some(std::size_t limit) const noexcept {
    FitData out = *this;
    out.stride = std::max(stride, (blocks.size() + limit - 1) / limit);
    return out;
  }
};

/// The block with random jitter added to starts and ends of work.
[[nodiscard]] SampleBlock jittered(const SampleBlock& block, double jitter_ns);

/// Calls on_row(row, units above the background, number of the chunk).
template <typename OnRow>
void for_each_row(const FitData& data, SampleSet set, TimeNs lag_ns, OnRow&& on_row) {
  UnmixRows rows;
  SampleBlock moved;
  for (std::size_t b = 0; b < data.blocks.size(); b += data.stride) {
    if (data.jitter_ns > 0) moved = jittered(data.blocks[b], data.jitter_ns);
    const SampleBlock& block = data.jitter_ns > 0 ? moved : data.blocks[b];
    const double background = data.background.of(block.gpu)[data.column];
    rows.run(block, data.column, lag_ns, data.pace, [&](const UnmixRow& row) {
      const auto i = static_cast<std::size_t>(&row.sample - block.samples.data());
      const std::size_t chunk = b * (kBlockSamples / kChunkSamples) + i / kChunkSamples;
      const bool held_out = chunk % 5 == 2;
      if (set != SampleSet::all && held_out != (set == SampleSet::held_out)) return;
      on_row(row, row.units - background * row.sample.length_ns, chunk);
    });
  }
}

/// Rates of each group with every sample shared by time. A group without samples gets the mean of all.
[[nodiscard]] std::vector<double> time_shared_rates(const FitData& data, SampleSet set, TimeNs lag_ns);

/// A weak prior at `time_shared`: each deviation is as large as the rate itself.
[[nodiscard]] PriorRates prior_of(const std::vector<double>& time_shared);

/// A noise model of a sample's bytes, relative to overlap times rate; fitted to the residuals.
///
///   variance = floor^2                              constant noise
///            + spread^2 * sum (overlap * rate)^2    launches of one group differ
///            + edge_ns^2 * (rates cut at an edge)^2 times are inexact, and rates vary within a kernel
///
/// Gives samples their weights: one sample with a light kernel alone has more information about it than a
/// hundred shared with a heavy kernel. Also sets how far replicas (unmix.h) are perturbed.
struct NoiseModel {
  double floor_units = 8;
  double spread = 0.1;
  double edge_ns = 200;

  [[nodiscard]] double variance(const UnmixRow& row, std::span<const double> rates) const noexcept;
};

/// Fits the three parameters to residuals, weighted by the model `before`.
class NoiseFit {
 public:
  explicit NoiseFit(const NoiseModel& before) : before_(before) {}
  void add(const UnmixRow& row, std::span<const double> rates, double residual_units) noexcept;
  /// Returns `before` if too few rows were added.
  [[nodiscard]] NoiseModel model() const noexcept;

 private:
  static constexpr std::size_t kTerms = 3;
  NoiseModel before_;
  std::array<std::array<double, kTerms>, kTerms> matrix_{};
  std::array<double, kTerms> right_side_{};
  std::uint64_t rows_ = 0;
};

struct RateFit {
  std::vector<double> rates;
  NoiseModel noise;
  bool valid = false;  ///< false: too many pairs of groups
};

/// Fits rates and noise alternately, `rounds` times. Outliers get less weight. `near`: rates near the
/// solution, to find it sooner.
[[nodiscard]] RateFit fit_rates(const FitData& data, SampleSet set, TimeNs lag_ns,
                                const std::vector<double>& time_shared, int rounds,
                                const std::vector<double>& near);

/// Mean squared error, in deviations by the noise of `scale`; at most 25 per sample.
[[nodiscard]] double prediction_error(const FitData& data, SampleSet set, TimeNs lag_ns,
                                      std::span<const double> rates, const RateFit& scale);

/// Units that the rates predict for a row.
[[nodiscard]] double predicted_units(const UnmixRow& row, std::span<const double> rates) noexcept;

}  // namespace rangefinder
