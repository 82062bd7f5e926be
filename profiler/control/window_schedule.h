// SPDX-License-Identifier: Apache-2.0
//
// Windows that end by themselves: after a time, after so many launches, after so many
// ranges; and those that begin at a time, on every rank the same.
//
//   submit(plan) ─▶ waiting until plan.at_ns ─▶ opening ─▶ open ─▶ end reached ─▶ close_window
//
// One plan at a time. Time and launches are looked at by the control thread every few
// milliseconds; ranges close their windows themselves (range_windows.h). Control thread.
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
  std::int64_t for_ns = 0;     ///< 0: not by time
  std::uint64_t launches = 0;  ///< 0: not by launches
  std::optional<RangeCount> ranges;
  std::uint64_t windows = 1;  ///< of ranges
  std::vector<std::optional<CounterMode>>
      counters{};  ///< of one window of ranges after the other; empty: by `request`
};

class WindowSchedule {
 public:
  WindowSchedule(ControlTarget& target, RangeWindows& ranges) : target_(target), ranges_(ranges) {}

  /// Empty: it will be done. Else why not.
  [[nodiscard]] std::string submit(const WindowPlan& plan);
  /// No window of the plan is opened any more.
  void cancel() noexcept;
  /// Often.
  void tick(std::int64_t now_ns);

  [[nodiscard]] bool busy() const noexcept { return phase_ != Phase::none; }
  /// Why the last plan failed; empty: it did not.
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  /// Until tick() should be called again; negative: no need.
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
