// SPDX-License-Identifier: Apache-2.0
//
// Copies of known size against what counters said of them, in exact windows.
//
//   ExactRecord (memcpy, alone in its counter range) ─┐ by correlation, in any order
//   MemcpyRecord (direction, size) ───────────────────┴▶ CopyTruth
//
// A device-to-device copy of kTruthLeastBytes or more reads all of its bytes from DRAM and writes
// them there: smaller ones the L2 serves in part. Bounded: copies whose other half never comes are
// forgotten, the oldest first. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "schema/record.h"

namespace rangefinder {

class ExactTruth {
 public:
  void add(const ExactRecord& exact);
  void add(const MemcpyRecord& copy);
  [[nodiscard]] const CopyTruth& truth() const noexcept { return truth_; }

 private:
  static constexpr std::size_t kMaxWaiting = 1'024;
  struct Half {
    std::uint32_t correlation = 0;
    bool measured = false;  // the exact line's half, else the record's
    std::uint64_t bytes = 0;
  };
  void join(const Half& half);

  std::deque<Half> waiting_;
  CopyTruth truth_;
};

}  // namespace rangefinder
