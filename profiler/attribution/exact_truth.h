// SPDX-License-Identifier: Apache-2.0
//
// Compares copies of known size with the bytes that counters measured for them, in exact windows.
//
//   ExactRecord (memcpy, alone in its counter range) ─┐ by correlation, in any order
//   MemcpyRecord (direction, size) ───────────────────┴▶ CopyTruth
//
// A device-to-device copy of kTruthMinBytes or more reads all its bytes from DRAM and writes them
// to DRAM; L2 serves part of smaller ones. Bounded: if a copy's second record never comes, the
// first is dropped, oldest first. Pure.
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
  struct Unpaired {
    std::uint32_t correlation = 0;
    bool measured = false;  // true: from the exact line; false: from the memcpy record
    std::uint64_t bytes = 0;
  };
  void join(const Unpaired& added);

  std::deque<Unpaired> waiting_;
  CopyTruth truth_;
};

}  // namespace rangefinder
