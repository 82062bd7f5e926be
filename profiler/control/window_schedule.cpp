// SPDX-License-Identifier: Apache-2.0
#include "profiler/control/window_schedule.h"

#include <algorithm>
#include <limits>

#include "profiler/base/duration.h"

namespace rangefinder {
namespace {

/// Maximum time to wait until the previous window is complete.
constexpr std::int64_t kBeginPatienceNs = 10'000 * kNsPerMs;
/// Interval between two polls of launches.
constexpr std::int64_t kLaunchPollMs = 2;
/// A window with a given begin is prepared this much earlier: its folder, CUPTI.
constexpr std::int64_t kPrepareNs = 200 * kNsPerMs;

}  // namespace

std::string WindowSchedule::submit(const WindowPlan& plan) {
  if (busy()) return "another window is planned already";
  if (plan.ranges) {
    if (ranges_.windows_left() != 0) return "windows over ranges are active already";
    std::vector<WindowRequest> requests{plan.request};
    for (std::size_t i = 0; i < plan.counters.size(); ++i) {
      if (i == requests.size()) requests.push_back(plan.request);
      requests[i].counters = plan.counters[i];
    }
    if (!ranges_.arm(*plan.ranges, requests, plan.windows)) return "out of memory";
    plan_ = plan;
    error_.clear();
    phase_ = Phase::ranges;
    return {};
  }
  plan_ = plan;
  error_.clear();
  phase_ = Phase::waiting;
  give_up_ns_ = 0;
  return {};
}

void WindowSchedule::cancel() noexcept {
  if (phase_ == Phase::ranges) ranges_.disarm();
  phase_ = Phase::none;
}

void WindowSchedule::begin(std::int64_t now_ns) {
  if (give_up_ns_ == 0) give_up_ns_ = now_ns + kBeginPatienceNs;
  const SessionStatus before = target_.status();
  plan_.request.when_ready = true;
  plan_.request.begin_ns = plan_.at_ns;
  error_ = target_.begin_window(plan_.request);
  if (!error_.empty()) {
    const bool later = is_closing(before.state) && now_ns < give_up_ns_;
    if (!later) phase_ = Phase::none;
    return;
  }
  window_ = target_.status().window.number;
  phase_ = Phase::opening;
}

// Time and launches are counted from the window's begin.
void WindowSchedule::set_end(const SessionStatus& status, std::int64_t now_ns) {
  const std::int64_t begin_ns =
      status.window.begin_ns != 0 ? status.window.begin_ns : std::max(now_ns, plan_.at_ns);
  end_ns_ = plan_.for_ns != 0 ? begin_ns + plan_.for_ns : std::numeric_limits<std::int64_t>::max();
  last_launch_ =
      plan_.launches != 0 ? status.launches + plan_.launches : std::numeric_limits<std::uint64_t>::max();
  phase_ = Phase::open;
}

void WindowSchedule::tick(std::int64_t now_ns) {
  if (phase_ == Phase::waiting && now_ns >= plan_.at_ns - kPrepareNs) begin(now_ns);
  if (phase_ == Phase::ranges && ranges_.windows_left() == 0) {
    phase_ = Phase::none;
    error_ = ranges_.error();
  }
  if (phase_ != Phase::opening && phase_ != Phase::open) return;
  const SessionStatus status = target_.status();
  if (phase_ == Phase::opening && status.window.opened) set_end(status, now_ns);
  if (status.state != SessionState::recording || status.window.number != window_) {
    phase_ = Phase::none;  // another caller closed it
  } else if (phase_ == Phase::opening) {
    return;
  } else if (now_ns >= end_ns_) {
    (void)target_.close_window("window");
    phase_ = Phase::none;
  } else if (status.launches >= last_launch_) {
    (void)target_.close_window("window");
    phase_ = Phase::none;
  }
}

std::int64_t WindowSchedule::next_tick_ms(std::int64_t now_ns) const noexcept {
  switch (phase_) {
    case Phase::none:
    case Phase::ranges:  // RangeWindows wakes the control thread
      return -1;
    case Phase::waiting:
      return give_up_ns_ != 0 ? kLaunchPollMs
                              : std::max<std::int64_t>(0, (plan_.at_ns - kPrepareNs - now_ns) / kNsPerMs);
    case Phase::opening:
      return kLaunchPollMs;
    case Phase::open:
      break;
  }
  if (plan_.launches != 0) return kLaunchPollMs;
  // Steps of 1 ms near the end, so that the window is closed on time.
  return std::clamp<std::int64_t>((end_ns_ - now_ns) / kNsPerMs, 1, 1000);
}

}  // namespace rangefinder
