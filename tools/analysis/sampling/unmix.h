// SPDX-License-Identifier: Apache-2.0
//
// Unmixing: fits byte rates of groups of work, to split the bytes of a sample that several kernels share.
//
//   a sample's bytes = sum over the work in it of overlap times the byte rate of its group
//
// The bytes of large device copies are known: they are subtracted first (known_traffic.h). A rate is per ns,
// or per part of a launch (Pace), whichever predicts better: launches that compete for bandwidth take longer
// for the same bytes.
//
// A group is all work with one expected rate: one path, kernel and launch configuration. Repeated groups
// share samples in different proportions each time. So non-negative least squares over all samples separates
// their rates, although no sample holds one group alone. Each column (DRAM read, DRAM written, L2) has its
// own rates and its own lag between the records' times and its bytes. Both are used only if they predict
// samples held out from the fit better than sharing by time. Otherwise all `rates` are equal, which shares
// by time.
//
// `replicas` are other rates that fit about as well. The spread of the bytes attributed with them is the
// error of the bytes attributed with `rates` (error_bytes() in sampled_bytes.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tools/analysis/sampling/unmix_blocks.h"
#include "tools/analysis/sampling/unmix_fit.h"

namespace rangefinder {

/// Random replicas, followed by the jitter replica.
inline constexpr std::size_t kDrawnReplicas = 12;
inline constexpr std::size_t kJitterReplica = kDrawnReplicas;
inline constexpr std::size_t kReplicas = kDrawnReplicas + 1;

struct ColumnRates {
  bool unmixed = false;
  bool per_launch = false;               ///< rates are of a launch of mean duration (Pace), not of time
  std::optional<double> held_out_ratio;  ///< squared error, unmixed / time-shared; absent: unknown
  double min_run = 1;                    ///< above 1: too few samples to fit, by this factor
  std::int32_t lag_ns = 0;               ///< to add to the samples' times
  std::vector<double> rates;             ///< units per ns, at head_of() and tail_of() each group
  std::array<std::vector<double>, kReplicas> replicas;
  NoiseModel noise;
};

struct UnmixedRates {
  std::array<ColumnRates, kSharedColumns> columns;
  BackgroundRates background;
  std::vector<double> mean_durations;  ///< by group, in ns

  [[nodiscard]] Pace pace(std::size_t column) const noexcept {
    return columns[column].per_launch ? Pace(mean_durations) : Pace();
  }
};

/// `mean_durations`: by group; its size is the exclusive upper bound of OrderedWork::kind. `jobs`: threads;
/// the result does not depend on it.
[[nodiscard]] UnmixedRates unmix(std::span<const SampleBlock> blocks, std::vector<double> mean_durations,
                                 BackgroundRates background, unsigned jobs = 1);

}  // namespace rangefinder
