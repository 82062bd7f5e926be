// SPDX-License-Identifier: Apache-2.0
//
// The records of a trace that sampled bytes are made of, in order and in blocks.
//
//   PathRecord, KernelRecord, …, SamplesRecord ─▶ take ─▶ SampleOrder ─▶ SampleBlock ─▶ `on_block`
//
// Also everything that needs no sharing: work by owner, idle samples, links, copies of known size.
// A trace within a few million samples and pieces of work is put in order as a whole, so that no
// record is late; a longer one in stretches of that size.
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

/// What a samples line sums up, over the time since the line before.
struct LineSums {
  TimeNs from_ns = 0, to_ns = 0;
  std::uint32_t gpu = 0;
  std::uint64_t idle_samples = 0;
  std::array<std::uint64_t, kSampleColumns> idle_units{};
  std::array<std::uint64_t, kSampleColumns> link_units{};  ///< idle ones included; links only
};

/// Work of one owner.
struct OwnerWork {
  std::uint64_t ns = 0;       ///< durations, summed
  std::uint64_t count = 0;    ///< pieces of work
  std::uint64_t lost_ns = 0;  ///< of ns, while samples were lost
  bool operator==(const OwnerWork&) const = default;
};

class SampledSource {
 public:
  using OnBlock = std::function<void(SampleBlock&&)>;
  /// `groups` outlives it.
  SampledSource(WorkGroups& groups, OnBlock on_block, std::size_t max_pending = std::size_t{1} << 22);

  void take(const PathRecord& path) { groups_.add(path); }
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
  /// Lets go of work() and keeps none from here on: the trace is too long.
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
  TruthCopies truth_;
  std::vector<LineSums> lines_;
  std::vector<std::pair<std::uint32_t, TimeNs>> line_ends_;  // of the latest line, by GPU
  std::vector<Work> work_;
  SampleGaps gaps_;
  std::vector<OwnerWork> owner_work_;
  std::uint64_t late_work_ = 0;
  bool keeps_work_ = true;
};

/// Units per ns that move on each GPU while nothing runs: of samples left out as idle and of those
/// in which no work ran. Never more than what next to all samples hold, so that work whose records
/// were lost is not taken for it.
[[nodiscard]] BackgroundRates background_of(const std::vector<SampleBlock>& blocks,
                                            const std::vector<LineSums>& lines);

}  // namespace rangefinder
