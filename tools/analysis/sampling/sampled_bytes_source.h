// SPDX-License-Identifier: Apache-2.0
//
// Sorts the work and samples of a trace by time and cuts them into blocks.
//
//   PathRecord, KernelRecord, …, SamplesRecord ─▶ take ─▶ SampleOrder ─▶ SampleBlock ─▶ `on_block`
//
// Also sums what needs no attribution: work by owner, idle samples, links, copies of known size. A trace of
// up to a few million samples and pieces of work is sorted as a whole, so no record is late. A longer trace
// is sorted in stretches of that size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "profiler/attribution/sample_order.h"
#include "profiler/attribution/sample_truth.h"
#include "schema/record.h"
#include "tools/analysis/sampling/sampled_bytes_gaps.h"
#include "tools/analysis/sampling/sampled_bytes_groups.h"
#include "tools/analysis/sampling/unmix_blocks.h"

namespace rangefinder {

/// The sums of one samples line, over the time since the previous line.
struct LineSums {
  TimeNs from_ns = 0, to_ns = 0;
  std::uint32_t gpu = 0;
  std::uint64_t idle_samples = 0;
  std::array<std::uint64_t, kSampleColumns> idle_units{};
  std::array<std::uint64_t, kSampleColumns> link_units{};  ///< links only; includes idle samples
};

/// Work of one owner.
struct OwnerWork {
  std::uint64_t ns = 0;       ///< durations, summed
  std::uint64_t count = 0;    ///< pieces of work
  std::uint64_t lost_ns = 0;  ///< part of ns while samples were lost
  bool operator==(const OwnerWork&) const = default;
};

class SampledSource {
 public:
  using OnBlock = std::function<void(SampleBlock&&)>;
  /// `groups` must outlive the source.
  SampledSource(WorkGroups& groups, OnBlock on_block, std::size_t max_pending = std::size_t{1} << 22);

  void take(const PathRecord& path) { groups_.add(path); }
  void take(const GpuRecord& gpu) { groups_.add(gpu); }
  void take(const KernelRecord& kernel);
  void take(const MemcpyRecord& copy);
  void take(const MemsetRecord& memset);
  void take(const GraphRecord& graph);
  void take(const SamplesRecord& samples);
  template <typename Other>
  void take(const Other&) {}
  void finish();

  [[nodiscard]] bool any_samples() const noexcept { return !lines_.empty(); }
  [[nodiscard]] const std::vector<LineSums>& lines() const noexcept { return lines_; }
  [[nodiscard]] std::uint64_t late_work() const noexcept { return late_work_; }
  [[nodiscard]] const CopyTruth& truth() const noexcept { return truth_.truth(); }
  /// All timed work; `path` is the owner. In order of arrival.
  struct Work {
    OrderedWork work;
    std::uint32_t gpu;
  };
  [[nodiscard]] const std::vector<Work>& work() const noexcept { return work_; }
  [[nodiscard]] const SampleGaps& gaps() const noexcept { return gaps_; }
  /// Releases work() and keeps no more of it, for a trace that is too long.
  void forget_work();
  /// All timed work by owner.
  [[nodiscard]] const std::vector<OwnerWork>& owner_work() const noexcept { return owner_work_; }

 private:
  void add(std::uint32_t gpu, const OrderedWork& work, bool count_time = true);
  void settle(TimeNs until_ns);

  WorkGroups& groups_;
  OnBlock on_block_;
  SampleOrder order_;
  SampleSweep sweep_;
  KnownTraffic known_;
  TruthCopies truth_;
  std::vector<LineSums> lines_;
  std::vector<std::pair<std::uint32_t, TimeNs>> line_ends_;  // end of the latest line, by GPU
  std::vector<Work> work_;
  SampleGaps gaps_;
  std::vector<OwnerWork> owner_work_;
  std::uint64_t late_work_ = 0;
  bool keeps_work_ = true;
};

/// Units per ns that move on each GPU while nothing runs, from samples omitted as idle and samples without
/// work. At most what almost all samples hold (the 2 % quantile), so that work whose records were lost does
/// not count as background.
[[nodiscard]] BackgroundRates background_of(const std::vector<SampleBlock>& blocks,
                                            const std::vector<LineSums>& lines);

}  // namespace rangefinder
