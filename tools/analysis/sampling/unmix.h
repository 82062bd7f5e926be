// SPDX-License-Identifier: Apache-2.0
//
// Whose bytes are in a sample that several kernels share: byte rates of groups of work.
//
//   a sample's bytes = sum over the work in it of overlap times the byte rate of its group
//
// A group is all work of which one rate is expected: one path, kernel and launch configuration.
// Where groups repeat, each meets others in ever new proportions, and non-negative least squares
// over all samples tells their rates apart, although no sample holds one alone. Each column
// (DRAM read, DRAM written, L2) has rates of its own, and a lag: its bytes show that much after
// the records' times. Both are kept only if they predict samples held back from the fit better
// than sharing by time; else `rates` are all equal, which shares by time.
//
// `replicas` are rates as they might have come out as well: the spread of what is shared by them
// is the error of what is shared by `rates` (sampled_bytes_error.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tools/analysis/sampling/unmix_blocks.h"
#include "tools/analysis/sampling/unmix_noise.h"

namespace rangefinder {

/// Draws, and behind them the one with times moved: unmix_replicas.h.
inline constexpr std::size_t kDrawnReplicas = 12;
inline constexpr std::size_t kJitterReplica = kDrawnReplicas;
inline constexpr std::size_t kReplicas = kDrawnReplicas + 1;

struct ColumnRates {
  bool unmixed = false;
  std::optional<double> held_back_ratio;  ///< squared error, unmixed over time-shared; absent: not known
  std::int32_t lag_ns = 0;                ///< to be added to samples' times
  std::vector<double> rates;              ///< units per ns, at head_of and tail_of each group
  std::array<std::vector<double>, kReplicas> replicas;
  NoiseModel noise;
};

struct UnmixedRates {
  std::array<ColumnRates, kSharedColumns> columns;
  BackgroundRates background;
};

/// `groups`: OrderedWork::kind of all work is below it.
[[nodiscard]] UnmixedRates unmix(std::span<const SampleBlock> blocks, std::size_t groups,
                                 BackgroundRates background);

}  // namespace rangefinder
