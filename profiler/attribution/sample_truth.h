// SPDX-License-Identifier: Apache-2.0
//
// Compares copies of known size with the bytes of their samples.
//
// A copy of kTruthMinBytes or more on one GPU reads and writes its size. It is compared if it is alone
// (no other work in the samples that it touches, nor in those within one interval of either end) and
// samples cover all of it. Part of SampleSharing.
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
  /// Any copy; those of unknown traffic are ignored.
  void add(const MemcpyRecord& copy);
  /// In time order for each GPU.
  void add_sample(const SampleBatch& batch, const OrderedSample& sample,
                  const std::vector<SampleOverlap>& overlaps);
  /// No more samples that end before `until_ns` will come.
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
  static void add_to(Copy& copy, const SampleBatch& batch, const OrderedSample& sample,
                     const std::vector<SampleOverlap>& overlaps);
  void judge(const Copy& copy);

  std::deque<Copy> open_;  // by start
  CopyTruth truth_;
};

}  // namespace rangefinder
