// SPDX-License-Identifier: Apache-2.0
//
// Which work overlaps each sample of a batch, and for how long.
//
//   SampleBatch ─▶ SampleSweep::run ─▶ on_sample(sample, overlaps), sample by sample
//
// One walk over both, however much of it runs at once. `share_units` splits a count in
// proportion to weights to the last unit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/attribution/sample_order.h"

namespace rangefinder {

struct SampleOverlap {
  std::uint32_t work = 0;  ///< position in SampleBatch::work
  std::int32_t ns = 0;     ///< over 0; with a reach, over minus that: so far the work is from the sample
};

/// Keeps its buffers from batch to batch.
class SampleSweep {
 public:
  /// `on_sample` gets each sample as it is in the batch, and its overlaps by start of the work.
  /// `lag_ns` is added to the samples' times; with `reach_ns`, work counts that would overlap if the
  /// sample were that much earlier or later. Together less than kSampleReachNs.
  template <typename OnSample>
  void run(const SampleBatch& batch, TimeNs lag_ns, TimeNs reach_ns, OnSample&& on_sample) {
    active_.clear();
    std::uint32_t next = 0;
    for (const OrderedSample& sample : batch.samples) {
      const TimeNs start = sample.start_ns + lag_ns, end = start + sample.length_ns;
      while (next < batch.work.size() && batch.work[next].start_ns < end + reach_ns)
        active_.push_back(next++);
      overlaps_.clear();
      std::size_t kept = 0;
      for (const std::uint32_t i : active_) {
        const OrderedWork& work = batch.work[i];
        if (work.end_ns + reach_ns <= start) continue;  // over, for the samples after this one too
        active_[kept++] = i;
        const TimeNs ns = std::min(work.end_ns, end) - std::max(work.start_ns, start);
        if (ns > -reach_ns) overlaps_.push_back({i, static_cast<std::int32_t>(ns)});
      }
      active_.resize(kept);
      on_sample(sample, overlaps_);
    }
  }

 private:
  std::vector<std::uint32_t> active_;
  std::vector<SampleOverlap> overlaps_;
};

/// Shares `units` over pieces of a whole: give it the part of the whole reached so far, ascending
/// to exactly 1, and it returns what the piece gets. All pieces together get all units; each gets
/// its due to half a unit either side.
class UnitShares {
 public:
  explicit UnitShares(std::uint64_t units) : units_(units) {}
  [[nodiscard]] std::uint64_t until(double part) noexcept {
    const auto reached =
        part >= 1.0 ? units_ : static_cast<std::uint64_t>(static_cast<double>(units_) * part + 0.5);
    const std::uint64_t share = reached - std::min(given_, reached);
    given_ += share;
    return share;
  }

 private:
  std::uint64_t units_, given_ = 0;
};

}  // namespace rangefinder
