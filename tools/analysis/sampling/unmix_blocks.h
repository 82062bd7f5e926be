// SPDX-License-Identifier: Apache-2.0
//
// Samples and work in blocks of time, kept in memory for several passes, and the rows to fit.
//
//   SampleBatch ─▶ append_blocks ─▶ SampleBlock, kBlockSamples each
//   SampleBlock ─▶ UnmixRows::run ─▶ one row per sample: the groups that overlap it, and for how long
//
// OrderedWork::kind is the group here: all work with one expected byte rate.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "profiler/attribution/known_traffic.h"
#include "profiler/attribution/sample_order.h"
#include "profiler/attribution/sample_sweep.h"

namespace rangefinder {

inline constexpr std::size_t kBlockSamples = 256;

struct SampleBlock {
  std::uint32_t gpu = 0;
  std::vector<OrderedSample> samples;
  std::vector<OrderedWork> work;         ///< all work within kSampleReachNs of the samples
  std::vector<KnownShare> known_shares;  ///< bytes of known copies, by sample; positions in this block
  [[nodiscard]] SampleBatch batch() const noexcept { return {gpu, samples, work}; }
};

/// Cuts a batch into blocks and adds them. `known_shares`: of the batch, by sample.
void append_blocks(std::vector<SampleBlock>& blocks, const SampleBatch& batch,
                   std::span<const KnownShare> known_shares = {});

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
  double units = 0;                   ///< of the column, without known bytes
};

/// How much of a launch's bytes a nanosecond of it has. Beside other work a launch takes longer and moves its
/// bytes more slowly: then its part of the launch counts, in ns of its group's mean duration.
class Pace {
 public:
  /// `mean_durations`: by group; empty: rates are per ns of time.
  Pace() = default;
  explicit Pace(std::span<const double> mean_durations) noexcept : means_(mean_durations) {}
  [[nodiscard]] double of(std::uint32_t group, double duration_ns) const noexcept {
    return group < means_.size() && means_[group] > 0 ? means_[group] / duration_ns : 1;
  }

 private:
  std::span<const double> means_;
};

/// Reuses its buffers from block to block.
class UnmixRows {
 public:
  /// Calls on_row(const UnmixRow&) for each sample that overlaps work whose bytes in `column` are not known.
  template <typename OnRow>
  void run(const SampleBlock& block, std::size_t column, TimeNs lag_ns, const Pace& pace, OnRow&& on_row) {
    const SampleBatch batch = block.batch();
    auto share = block.known_shares.begin();
    sweep_.run(batch, lag_ns, 0,
               [&](const OrderedSample& sample, const std::vector<SampleOverlap>& overlaps) {
                 double units = sample.units[column];
                 const auto number = static_cast<std::uint32_t>(&sample - block.samples.data());
                 for (; share != block.known_shares.end() && share->sample <= number; ++share) {
                   if (column < kKnownColumns && share->sample == number) units -= share->units[column];
                 }
                 entries_.clear();
                 const TimeNs start = sample.start_ns + lag_ns, end = start + sample.length_ns;
                 for (const SampleOverlap& overlap : overlaps) {
                   const OrderedWork& work = batch.work[overlap.work];
                   if (column < kKnownColumns && work.is_known()) continue;
                   add(work, overlap, start, end, pace);
                 }
                 if (!entries_.empty()) on_row(UnmixRow{sample, entries_, std::max(0.0, units)});
               });
  }

 private:
  void add(const OrderedWork& work, const SampleOverlap& overlap, TimeNs start, TimeNs end, const Pace& pace);

  SampleSweep sweep_;
  std::vector<RowEntry> entries_;
};

}  // namespace rangefinder
