// SPDX-License-Identifier: Apache-2.0
//
// Chooses the time windows in which the page keeps every piece of GPU work.
//
//   amount of work over time ─┐
//   iterations ───────────────┴▶ choose_windows ─▶ the whole trace if it is small; otherwise the slowest,
//                                                  median and last iteration, and windows spread over
//                                                  the trace
//
// Outside the windows the page draws the busy time of each stream. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/analysis/model/iterations.h"
#include "tools/page/time_bins.h"

namespace rangefinder {

struct TimeWindow {
  TimeNs start_ns = 0, end_ns = 0;
  const char* why = "";  ///< shown in the page: "slowest iteration"
};

struct DetailWindows {
  std::vector<TimeWindow> windows;  ///< sorted by start, disjoint
  bool whole = false;               ///< one window covers the whole trace
  /// Maximum pieces of work per window. A window ends early if it has more, because bins are coarse.
  std::uint64_t share = 0;
};

/// `limit`: pieces of work in all windows together. `work`: pieces of work over time.
[[nodiscard]] DetailWindows choose_windows(const TimeBins& work, const std::vector<Iteration>& iterations,
                                           std::uint64_t limit);

}  // namespace rangefinder
