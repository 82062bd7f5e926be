// SPDX-License-Identifier: Apache-2.0
//
// The host calls of the last 262,144 launches, by correlation id.
//
// A GPU record arrives shortly after its launch, so a table of fixed size finds nearly all launches. Work
// without a known launch has no arrow in the page and does not count in the spans of its ranges. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

struct SeenLaunch {
  TimeNs start_ns = kNoTime, end_ns = kNoTime;
  std::uint32_t correlation = 0;
  std::uint32_t thread = 0, path = 0, api = 0;
  /// From an exact line of this launch; -1: none.
  std::int64_t dram_read_bytes = -1, dram_write_bytes = -1, l2_bytes = -1;
};

class RecentLaunches {
 public:
  RecentLaunches() : slots_(kSlots) {}
  /// Returns the stored launch.
  const SeenLaunch& add(const SeenLaunch& launch) { return slots_[launch.correlation % kSlots] = launch; }
  /// nullptr: unknown or too old.
  [[nodiscard]] const SeenLaunch* find(std::uint32_t correlation) const noexcept {
    const SeenLaunch& slot = slots_[correlation % kSlots];
    return slot.start_ns != kNoTime && slot.correlation == correlation ? &slot : nullptr;
  }

 private:
  static constexpr std::size_t kSlots = std::size_t{1} << 18;
  std::vector<SeenLaunch> slots_;
};

}  // namespace rangefinder
