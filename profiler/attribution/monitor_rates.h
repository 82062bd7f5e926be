// SPDX-License-Identifier: Apache-2.0
//
// Monitor mode: computes a rate and an error for each path from the lines of its periods.
//
//   MonitorRecord (own path) ─▶ add() ─▶ with its children, by window ─▶ rows(): mean and spread over windows
//
// All windows have equal weight. A window in which a path did nothing counts as 0. Pure. Used by the drain
// thread for summary.json and by the tools for a trace, so that both agree.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

/// One path including its children, except `ranges` and `range_ns`, which are the path's own.
struct MonitorRow {
  std::uint32_t path = 0, depth = 0;                     ///< depth 1: outermost; path 0: outside any range
  std::uint64_t launches = 0, ranges = 0, range_ns = 0;  ///< of all periods
  std::uint64_t kernels = 0, copies = 0, gpu_ns = 0;     ///< of all windows
  double gpu_ns_per_s = 0;                               ///< mean over the windows
  double gpu_ns_per_s_sd = 0;  ///< standard deviation over the windows; 0 for fewer than two
};

class MonitorRates {
 public:
  /// Call before the first record of the path.
  void add_path(std::uint32_t path, std::uint32_t parent) { parents_.emplace(path, parent); }
  /// Records of one period must be consecutive. With a window of 0 ns only the calls count.
  void add(const MonitorRecord& record);

  [[nodiscard]] std::uint64_t windows() const noexcept;
  [[nodiscard]] std::uint64_t window_ns() const noexcept { return window_ns_; }
  /// Summed length of all periods, without the gaps between them.
  [[nodiscard]] std::uint64_t observed_ns() const noexcept { return observed_ns_; }
  /// Every path with any activity, by ascending id.
  [[nodiscard]] std::vector<MonitorRow> rows() const;

 private:
  struct Sums {
    MonitorRow row;
    double rate_sum = 0, rate_squares = 0;
    std::uint64_t now_ns = 0;  // GPU work in the current window
  };
  void end_window();
  [[nodiscard]] std::uint32_t parent_of(std::uint32_t path) const;
  static void fold(Sums& sums, std::uint64_t window_ns) noexcept;

  std::unordered_map<std::uint32_t, std::uint32_t> parents_;
  std::unordered_map<std::uint32_t, Sums> by_path_;
  std::vector<std::uint32_t> in_window_;  // paths whose now_ns is not 0
  TimeNs start_ns_ = kNoTime;
  std::uint64_t period_window_ns_ = 0;
  std::uint64_t ended_windows_ = 0, window_ns_ = 0, observed_ns_ = 0;
};

}  // namespace rangefinder
