// SPDX-License-Identifier: Apache-2.0
//
// Decides when monitor mode records GPU work, and which calls lie in such a window.
//
//   window  ─ off ─ ─ ─ ─ ─ ─ window  ─ off ─ ─ ─ ─ ─ ─ window
//   |<----- period ---------->|<------ period -------->|
//
// Only records are switched. Callbacks stay on: they count launches, and switching them needs more care
// (launch/calls_in_progress.h). A launch in progress while records are switched may have a record or none:
// it is at the edge. Drain thread only.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>

#include "profiler/events/event.h"
#include "profiler/options/options.h"

namespace rangefinder {

class MonitorCycle {
 public:
  /// Maximum difference between the clocks of callbacks and of this class.
  static constexpr std::int64_t kClockErrorNs = 50'000;

  enum class Place : std::uint8_t { inside, edge, outside };
  enum class Change : std::uint8_t { none, window_ended, period_ended };

  /// The first period begins at `begin_ns`; records must be on since before that. `now()`: CLOCK_REALTIME,
  /// ns.
  MonitorCycle(const MonitorRequest& request, std::int64_t begin_ns,
               std::function<void(bool on)> switch_records, std::function<std::int64_t()> now);

  /// Whether events of this kind are omitted between windows, without being counted.
  [[nodiscard]] static constexpr bool omits(EventKind kind) noexcept {
    return kind == EventKind::mark || kind == EventKind::sync || kind == EventKind::alloc ||
           kind == EventKind::free || kind == EventKind::event_record || kind == EventKind::event_wait ||
           kind == EventKind::hold;
  }

  /// Switches records if due. period_ended: a new window and a new period have begun.
  Change turn();
  /// Time of the next switch.
  [[nodiscard]] std::int64_t next_ns() const noexcept;

  /// Where a call from `start_ns` to `end_ns` lies.
  [[nodiscard]] Place place(std::int64_t start_ns, std::int64_t end_ns) const noexcept;
  [[nodiscard]] bool open() const noexcept { return windows_[latest_].off_from_ns == kOpen; }
  /// Length of the latest window, up to `until_ns`.
  [[nodiscard]] std::uint64_t window_ns(std::int64_t until_ns) const noexcept;
  [[nodiscard]] std::int64_t period_begin_ns() const noexcept { return windows_[latest_].on_ns; }

 private:
  static constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::max();
  /// Records were switched on between on_from_ns and on_ns, and off between off_from_ns and off_ns.
  struct Window {
    std::int64_t on_from_ns = kOpen, on_ns = kOpen, off_from_ns = kOpen, off_ns = kOpen;
  };

  const MonitorRequest request_;
  const std::function<void(bool)> switch_records_;
  const std::function<std::int64_t()> now_;
  std::array<Window, 2> windows_{};  // the latest and the one before: events are ms late, not seconds
  std::size_t latest_ = 0;
};

}  // namespace rangefinder
