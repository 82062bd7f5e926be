// SPDX-License-Identifier: Apache-2.0
//
// Copies of known size against what the samples say of them.
//
// A copy on one GPU of kTruthLeastBytes or more reads and writes its size. Where it stands alone
// (no other work in the samples that it touches, nor in those within one interval of either end)
// and samples cover all of it, the bytes of those samples are measured truth. Part of SampleSharing.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "profiler/attribution/sample_order.h"
#include "profiler/attribution/sample_sweep.h"
#include "schema/record.h"

namespace rangefinder {

class TruthCopies {
 public:
  /// Any copy; those without a known truth are not looked at.
  void add(const MemcpyRecord& copy);
  /// In order of time for each GPU.
  void see(const SampleBatch& batch, const OrderedSample& sample, const std::vector<SampleOverlap>& overlaps);
  /// No sample that ends before `until_ns` is still to come.
  void settle(TimeNs until_ns);

  [[nodiscard]] const CopyTruth& truth() const noexcept { return truth_; }

 private:
  struct Copy {
    std::uint32_t gpu = 0;
    TimeNs start_ns = 0, end_ns = 0;
    std::uint64_t bytes = 0;
    bool alone = true;
    std::int64_t covered_ns = 0;
    std::uint64_t units = 0;
  };
  static void look(Copy& copy, const SampleBatch& batch, const OrderedSample& sample,
                   const std::vector<SampleOverlap>& overlaps);
  void judge(const Copy& copy);

  std::deque<Copy> open_;  // by start
  CopyTruth truth_;
};

}  // namespace rangefinder
