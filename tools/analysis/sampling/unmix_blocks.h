// SPDX-License-Identifier: Apache-2.0
//
// Samples and work of a stretch of time, kept for several passes, and the rows to fit.
//
//   SampleBatch ─▶ append_blocks ─▶ SampleBlock, kBlockSamples each
//   SampleBlock ─▶ UnmixRows::run ─▶ one row per sample: the groups that overlap it, and for how long
//
// OrderedWork::kind is the group here: all work with one expected byte rate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "profiler/attribution/sample_order.h"
#include "profiler/attribution/sample_sweep.h"

namespace rangefinder {

inline constexpr std::size_t kBlockSamples = 256;

struct SampleBlock {
  std::uint32_t gpu = 0;
  std::vector<OrderedSample> samples;
  std::vector<OrderedWork> work;  ///< all work within kSampleReachNs of the samples
  [[nodiscard]] SampleBatch batch() const noexcept { return {gpu, samples, work}; }
};

/// Cuts a batch into blocks and adds them.
void append_blocks(std::vector<SampleBlock>& blocks, const SampleBatch& batch);

/// Units per ns that move on a GPU at any time, independent of the work; by GPU and column.
class BackgroundRates {
 public:
  using Rates = std::array<double, kSharedColumns>;
  [[nodiscard]] const Rates& of(std::uint32_t gpu) const noexcept;
  void set(std::uint32_t gpu, const Rates& rates);

 private:
  std::vector<std::pair<std::uint32_t, Rates>> gpus_;
};

/// One group's part of a sample. Its rate changes linearly from the head to the tail of a launch, because
/// most kernels load first and store last. An overlap is divided between head and tail by its place in the
/// launch; a whole launch counts half for each.
struct RowEntry {
  std::uint32_t group = 0;
  bool cut_at_start = false;  ///< some of its work began before the sample
  bool cut_at_end = false;    ///< some ended after it; inexact times move bytes at a cut
  double head_ns = 0, tail_ns = 0;

  [[nodiscard]] double ns() const noexcept { return head_ns + tail_ns; }
  /// `rates`: indexed by head_of() and tail_of().
  [[nodiscard]] double units(std::span<const double> rates) const noexcept;
};

/// Positions of a group's rates in a list of all rates.
[[nodiscard]] constexpr std::size_t head_of(std::uint32_t group) noexcept {
  return 2 * std::size_t{group};
}
[[nodiscard]] constexpr std::size_t tail_of(std::uint32_t group) noexcept {
  return head_of(group) + 1;
}

inline double RowEntry::units(std::span<const double> rates) const noexcept {
  return head_ns * rates[head_of(group)] + tail_ns * rates[tail_of(group)];
}

struct UnmixRow {
  const OrderedSample& sample;
  std::span<const RowEntry> entries;  ///< one per group
};

/// Reuses its buffers from block to block.
class UnmixRows {
 public:
  /// Calls on_row(const UnmixRow&) for each sample that overlaps work.
  template <typename OnRow>
  void run(const SampleBlock& block, TimeNs lag_ns, OnRow&& on_row) {
    const SampleBatch batch = block.batch();
    sweep_.run(batch, lag_ns, 0,
               [&](const OrderedSample& sample, const std::vector<SampleOverlap>& overlaps) {
                 if (overlaps.empty()) return;
                 entries_.clear();
                 const TimeNs start = sample.start_ns + lag_ns, end = start + sample.length_ns;
                 for (const SampleOverlap& overlap : overlaps)
                   add(batch.work[overlap.work], overlap, start, end);
                 on_row(UnmixRow{sample, entries_});
               });
  }

 private:
  void add(const OrderedWork& work, const SampleOverlap& overlap, TimeNs start, TimeNs end);

  SampleSweep sweep_;
  std::vector<RowEntry> entries_;
};

}  // namespace rangefinder
