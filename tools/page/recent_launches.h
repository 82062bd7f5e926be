// SPDX-License-Identifier: Apache-2.0
//
// The host calls of the last quarter of a million launches, by correlation id.
//
// A GPU record comes within moments of its launch, so a table of fixed size finds nearly all; what it does
// not find has no arrow in the page, and no part in the span of its ranges. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

struct SeenLaunch {
  TimeNs start_ns = kNoTime, end_ns = kNoTime;
  std::uint32_t correlation = 0;
  std::uint32_t thread = 0, path = 0, api = 0;
  /// Of an exact line that measured this launch alone; -1: none.
  std::int64_t dram_read_bytes = -1, dram_write_bytes = -1, l2_bytes = -1;
};

class RecentLaunches {
 public:
  RecentLaunches() : slots_(kSlots) {}
  /// Returns what was added.
  const SeenLaunch& add(const SeenLaunch& launch) { return slots_[launch.correlation % kSlots] = launch; }
  /// nullptr: not seen, or too long ago.
  [[nodiscard]] const SeenLaunch* find(std::uint32_t correlation) const noexcept {
    const SeenLaunch& slot = slots_[correlation % kSlots];
    return slot.start_ns != kNoTime && slot.correlation == correlation ? &slot : nullptr;
  }

 private:
  static constexpr std::size_t kSlots = std::size_t{1} << 18;
  std::vector<SeenLaunch> slots_;
};

}  // namespace rangefinder
