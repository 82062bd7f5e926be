// SPDX-License-Identifier: Apache-2.0
//
// Which stretches of a trace the page keeps with every single piece of GPU work.
//
//   how much happened when ─┐
//   iterations ─────────────┴▶ choose_windows ─▶ all of it where that is little enough, else
//                              first, slowest, median and last iteration, and places between
//
// Everything else is drawn from how busy each stream was. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/analysis/read/iterations.h"
#include "tools/page/time_bins.h"

namespace rangefinder {

struct TimeWindow {
  TimeNs start_ns = 0, end_ns = 0;
  const char* why = "";  ///< for people: "slowest iteration"
};

struct DetailWindows {
  std::vector<TimeWindow> windows;  ///< by start, disjoint
  bool whole = false;               ///< one window that holds everything
  /// Pieces of work that each window may keep: what the bins could not resolve is cut there.
  std::uint64_t share = 0;
};

/// `most`: pieces of work in all windows together. `work`: when it ran.
[[nodiscard]] DetailWindows choose_windows(const TimeBins& work, const std::vector<Iteration>& iterations,
                                           std::uint64_t most);

}  // namespace rangefinder
