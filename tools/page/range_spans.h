// SPDX-License-Identifier: Apache-2.0
//
// The span of a range on the GPU: from the start of the first to the end of the last work launched inside it.
//
//   ranges that the page keeps ─▶ index by path and start
//   launch at t on a thread, in path a/b/c ─▶ the instances of a/b/c, a/b and a that were open at t
//
// Matches by the time of the launch, not by the range id of the record: GPU work names only its innermost
// range, which may not be in the page. Not thread-safe.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tools/analysis/model/trace_names.h"
#include "tools/page/page_counts.h"

namespace rangefinder {

struct SeenLaunch {
  TimeNs start_ns = kNoTime, end_ns = kNoTime;
  std::uint32_t correlation = 0;
  std::uint32_t thread = 0, path = 0, api = 0;
  /// From an exact line of this launch; -1: none.
  std::int64_t dram_read_bytes = -1, dram_write_bytes = -1, l2_bytes = -1;
};

/// The host calls of the last 262,144 launches, by correlation id.
///
/// A GPU record arrives shortly after its launch, so a table of fixed size finds nearly all launches. Work
/// whose launch was not recorded has no arrow in the page and does not count in the spans of its ranges.
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

class RangeSpans {
 public:
  /// `ranges` is sorted by start. Both arguments must outlive this.
  RangeSpans(std::vector<KeptRange>& ranges, const TraceNames& names);

  void add(const SeenLaunch& launch, TimeNs start, TimeNs end);

 private:
  struct Instances {
    std::vector<std::uint32_t> places;  // indices in ranges_, sorted by start
    std::size_t latest = 0;             // last found; the next launch is probably in it too
  };
  [[nodiscard]] KeptRange* open_at(Instances& instances, const SeenLaunch& launch);

  std::vector<KeptRange>& ranges_;
  const TraceNames& names_;
  std::unordered_map<std::uint32_t, Instances> by_path_;
};

}  // namespace rangefinder
