// SPDX-License-Identifier: Apache-2.0
//
// Monitor mode: from the lines of its periods to a rate and an error for each path.
//
//   MonitorRecord (own path) ─▶ add() ─▶ with its children, by window ─▶ rows(): mean and spread over windows
//
// Every window weighs the same, and one in which a path did nothing counts as 0. Pure; used by the drain
// thread for summary.json and by the tools over a trace, so that both agree.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

/// One path with all below it, but for `ranges` and `range_ns`, which are the path's own.
struct MonitorRow {
  std::uint32_t path = 0, depth = 0;  ///< depth 1: outermost; path 0: outside of all ranges
  std::uint64_t launches = 0, ranges = 0, range_ns = 0;  ///< of all periods
  std::uint64_t kernels = 0, copies = 0, gpu_ns = 0;     ///< of all windows
  double gpu_ns_per_s = 0;                               ///< mean over the windows
  double gpu_ns_per_s_sd = 0;  ///< standard deviation from window to window; 0 with less than two
};

class MonitorRates {
 public:
  /// Before the first record of the path.
  void add_path(std::uint32_t path, std::uint32_t parent) { parents_[path] = parent; }
  /// Records of one period follow each other. One whose window is 0 ns counts for its calls only.
  void add(const MonitorRecord& record);

  [[nodiscard]] std::uint64_t windows() const noexcept;
  [[nodiscard]] std::uint64_t window_ns() const noexcept { return window_ns_; }
  /// From the first period's start to the last one's end, less what lies between.
  [[nodiscard]] std::uint64_t observed_ns() const noexcept { return observed_ns_; }
  /// Every path that had anything, path 0 first, then as ids rise.
  [[nodiscard]] std::vector<MonitorRow> rows() const;

 private:
  struct Sums {
    MonitorRow row;
    double rate_sum = 0, rate_squares = 0;
    std::uint64_t now_ns = 0;  // of GPU work in the window at hand
  };
  void end_window();
  [[nodiscard]] std::uint32_t parent_of(std::uint32_t path) const;
  static void fold(Sums& sums, std::uint64_t window_ns) noexcept;

  std::unordered_map<std::uint32_t, std::uint32_t> parents_;
  std::unordered_map<std::uint32_t, Sums> by_path_;
  std::vector<std::uint32_t> in_window_;  // paths with now_ns
  TimeNs start_ns_ = kNoTime;
  std::uint64_t period_window_ns_ = 0;
  std::uint64_t ended_windows_ = 0, window_ns_ = 0, observed_ns_ = 0;
};

}  // namespace rangefinder
