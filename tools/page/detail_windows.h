// SPDX-License-Identifier: Apache-2.0
//
// Chooses the time windows in which the page keeps every piece of GPU work.
//
//   amount of work over time ─┐
//   iterations ───────────────┴▶ choose_windows ─▶ the whole trace if it is small; otherwise the slowest,
//                                                  median and last iteration, and windows spread over
//                                                  the trace
//
// Outside the windows the page draws the busy time of each stream. choose_windows is a pure function;
// TimeBins is not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tools/analysis/model/iterations.h"

namespace rangefinder {

/// Counts over time in a fixed number of bins, if the last time is not known in advance.
///
///   add(at, n)     `at` is beyond the last bin: neighbours merge, all bins become twice as wide
///
/// The width of a bin is a power of two. The first bin starts at 0 and also counts earlier times.
class TimeBins {
 public:
  /// `bins`: number of bins, a power of two.
  explicit TimeBins(std::size_t bins) : counts_(bins, 0) {}

  void add(TimeNs at, std::uint64_t n = 1);
  [[nodiscard]] TimeNs width_ns() const noexcept { return TimeNs{1} << shift_; }
  [[nodiscard]] const std::vector<std::uint64_t>& counts() const noexcept { return counts_; }
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }

 private:
  std::vector<std::uint64_t> counts_;
  unsigned shift_ = 10;  // initially bins of 1,024 ns
  std::uint64_t total_ = 0;
};

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

/// `limit`: pieces of work in all windows together. `work`: pieces of work over time. `median`: the iteration
/// that the report calls so; nullopt: none.
[[nodiscard]] DetailWindows choose_windows(const TimeBins& work, const std::vector<Iteration>& iterations,
                                           std::optional<std::size_t> median, std::uint64_t limit);

}  // namespace rangefinder
