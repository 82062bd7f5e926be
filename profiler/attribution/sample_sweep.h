// SPDX-License-Identifier: Apache-2.0
//
// Finds the work that overlaps each sample of a batch, and for how long.
//
//   SampleBatch ─▶ SampleSweep::run ─▶ on_sample(sample, overlaps), sample by sample
//
// One pass over samples and work, also with concurrent work. UnitShares splits a count in
// proportion to weights without losing a unit.
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
  std::int32_t ns = 0;     ///< > 0; with a reach > -reach: negative values are the distance to the sample
};

/// Keeps its buffers from batch to batch.
class SampleSweep {
 public:
  /// `on_sample` receives each sample unchanged, and its overlaps by start of the work. `lag_ns` is added to
  /// the samples' times. With `reach_ns`, work counts that would overlap if the sample were that much earlier
  /// or later. The sum must be less than kSampleReachNs.
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
        if (work.end_ns + reach_ns <= start) continue;  // ended, also for all later samples
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

/// Shares `units` over pieces of a whole. Call until() with the share of the whole reached so far, ascending
/// to exactly 1; it returns the piece's units. All units are distributed, and no piece's boundary is off by
/// more than half a unit.
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
