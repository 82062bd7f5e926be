// SPDX-License-Identifier: Apache-2.0
//
// What belongs to a window that begins or ends while the application runs, or has a gap in which another tool
// has CUPTI.
//
//   launches      [ window ][ gap ][ window ]     those of the gap are not recorded
//   GPU records   one without a launch counts as lost, unless its launch was before the window, in the
//                 gap, or after the window's end
//
// Times are relative to the trace. Drain thread only.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "schema/record.h"

namespace rangefinder {

class WindowEdges {
 public:
  /// The window begins while the application runs: work launched earlier is not part of it.
  void begin_late() noexcept { late_ = true; }
  /// Work launched from `end_ns` on is not part of the window.
  void end_window(TimeNs end_ns) noexcept { end_ns_ = end_ns; }
  /// Work launched from `start_ns` on is not part of the window, until end_gap().
  void begin_gap(TimeNs start_ns) noexcept {
    gap_start_ns_ = start_ns;
    gap_end_ns_ = kOpen;
  }
  /// Work launched in the gap may still run.
  void end_gap(TimeNs end_ns) noexcept {
    gap_end_ns_ = end_ns;
    late_ = true;
    first_correlation_.reset();
  }

  [[nodiscard]] bool in_gap(TimeNs launch_ns) const noexcept {
    return launch_ns >= gap_start_ns_ && launch_ns < gap_end_ns_;
  }
  /// Call for every launch of the window.
  void note_launch(std::uint32_t correlation) noexcept {
    // Correlation ids rise and wrap around. Events of several threads arrive out of order.
    if (!first_correlation_ || is_before(correlation, *first_correlation_)) first_correlation_ = correlation;
  }
  /// For a record without a launch.
  [[nodiscard]] bool contains(const GpuWork& work) const noexcept {
    const bool before = late_ && (!first_correlation_ || is_before(work.correlation, *first_correlation_));
    return !before && !starts_after(work, end_ns_) &&
           !(gap_end_ns_ == kOpen && starts_after(work, gap_start_ns_));
  }

 private:
  static constexpr TimeNs kOpen = std::numeric_limits<TimeNs>::max();
  static bool is_before(std::uint32_t a, std::uint32_t b) noexcept {
    return static_cast<std::int32_t>(a - b) < 0;
  }
  static bool starts_after(const GpuWork& work, TimeNs edge_ns) noexcept {
    // CUPTI maps the GPU's clock to the host's, which is not exact.
    constexpr TimeNs kClockErrorNs = 200'000;
    return edge_ns != kOpen && work.start_ns != kNoTime && work.start_ns >= edge_ns - kClockErrorNs;
  }

  bool late_ = false;
  std::optional<std::uint32_t> first_correlation_;
  TimeNs end_ns_ = kOpen, gap_start_ns_ = kOpen, gap_end_ns_ = kOpen;
};

}  // namespace rangefinder
