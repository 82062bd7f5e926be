// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/monitor_cycle.h"

#include <algorithm>
#include <utility>

namespace rangefinder {

MonitorCycle::MonitorCycle(const MonitorRequest& request, std::int64_t begin_ns,
                           std::function<void(bool)> switch_records, std::function<std::int64_t()> now)
    : request_(request), switch_records_(std::move(switch_records)), now_(std::move(now)) {
  windows_[0].on_from_ns = std::numeric_limits<std::int64_t>::min();
  windows_[0].on_ns = begin_ns;
}

MonitorCycle::Change MonitorCycle::turn() {
  if (now_() < next_ns()) return Change::none;
  if (open()) {
    Window& window = windows_[latest_];
    const std::int64_t from_ns = now_();
    switch_records_(false);
    window.off_ns = now_();
    window.off_from_ns = from_ns;
    return Change::window_ended;
  }
  latest_ = 1 - latest_;
  Window& window = windows_[latest_];
  window = {};
  window.on_from_ns = now_();
  switch_records_(true);
  window.on_ns = now_();
  return Change::period_ended;
}

std::int64_t MonitorCycle::next_ns() const noexcept {
  return windows_[latest_].on_ns + (open() ? request_.window_ns : request_.period_ns);
}

MonitorCycle::Place MonitorCycle::place(std::int64_t start_ns, std::int64_t end_ns) const noexcept {
  const auto plus = [](std::int64_t ns, std::int64_t more) { return ns == kOpen ? kOpen : ns + more; };
  Place place = Place::outside;
  for (const Window& window : windows_) {
    if (window.on_ns == kOpen) continue;
    const bool at_begin = window.on_from_ns == std::numeric_limits<std::int64_t>::min();
    if ((at_begin || start_ns >= window.on_ns + kClockErrorNs) &&
        end_ns <= plus(window.off_from_ns, -kClockErrorNs))
      return Place::inside;
    if ((at_begin || end_ns >= window.on_from_ns - kClockErrorNs) &&
        start_ns <= plus(window.off_ns, kClockErrorNs))
      place = Place::edge;
  }
  return place;
}

std::uint64_t MonitorCycle::window_ns(std::int64_t until_ns) const noexcept {
  const Window& window = windows_[latest_];
  const std::int64_t end_ns = std::min(window.off_from_ns, until_ns);
  return end_ns > window.on_ns ? static_cast<std::uint64_t>(end_ns - window.on_ns) : 0;
}

}  // namespace rangefinder
