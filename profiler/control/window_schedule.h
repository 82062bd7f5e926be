// SPDX-License-Identifier: Apache-2.0
//
// Windows that end by themselves, after DURATION, N launches or N ranges. A window may also
// begin at a given time, which can be the same on every rank.
//
//   submit(plan) ─▶ waiting until plan.at_ns ─▶ opening ─▶ open ─▶ end reached ─▶ close_window
//
// One plan at a time. The control thread polls time and launches every few milliseconds;
// ranges close their windows themselves (range_windows.h). Control thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/control/control_target.h"
#include "profiler/control/range_windows.h"

namespace rangefinder {

struct WindowPlan {
  WindowRequest request;
  std::int64_t at_ns = 0;      ///< CLOCK_REALTIME; 0: now
  std::int64_t for_ns = 0;     ///< 0: no limit by time
  std::uint64_t launches = 0;  ///< 0: no limit by launches
  std::optional<RangeCount> ranges;
  std::uint64_t windows = 1;  ///< number of windows over ranges
  /// Counter modes of successive windows over ranges; empty: that of `request`.
  std::vector<std::optional<CounterMode>> counters{};
};

class WindowSchedule {
 public:
  WindowSchedule(ControlTarget& target, RangeWindows& ranges) : target_(target), ranges_(ranges) {}

  /// Empty: the plan is accepted. Else the reason why not.
  [[nodiscard]] std::string submit(const WindowPlan& plan);
  /// Opens no more windows of the plan.
  void cancel() noexcept;
  /// Call as next_tick_ms() requires.
  void tick(std::int64_t now_ns);

  [[nodiscard]] bool busy() const noexcept { return phase_ != Phase::none; }
  /// Why the last plan failed; empty: it did not fail.
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  /// Time until tick() must be called again; negative: no need.
  [[nodiscard]] std::int64_t next_tick_ms(std::int64_t now_ns) const noexcept;

 private:
  enum class Phase : std::uint8_t { none, waiting, opening, open, ranges };
  void begin(std::int64_t now_ns);
  void set_end(const SessionStatus& status, std::int64_t now_ns);

  ControlTarget& target_;
  RangeWindows& ranges_;
  WindowPlan plan_;
  Phase phase_ = Phase::none;
  std::int64_t end_ns_ = 0;
  std::int64_t give_up_ns_ = 0;
  std::uint64_t last_launch_ = 0, window_ = 0;
  std::string error_;
};

}  // namespace rangefinder
