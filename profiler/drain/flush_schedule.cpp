// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/flush_schedule.h"

#include <algorithm>

#include "profiler/base/duration.h"

namespace rangefinder {
namespace {

constexpr std::chrono::milliseconds kBusySleep{10};
constexpr std::chrono::milliseconds kQuietSleep{100};
constexpr std::int64_t kQuietAfterNs = 1000 * kNsPerMs;
constexpr std::int64_t kQuietRequestNs = 5000 * kNsPerMs;

}  // namespace

void FlushSchedule::begin(std::int64_t now_ns) noexcept {
  last_input_ns_ = now_ns;
  interval_.begin(now_ns);
}

bool FlushSchedule::is_quiet(std::int64_t now_ns) const noexcept {
  return now_ns - last_input_ns_ >= kQuietAfterNs;
}

bool FlushSchedule::begin_request(std::int64_t now_ns, bool at_once) noexcept {
  // A request followed the last events: only late records are missing, however late this turn.
  const bool only_late = is_quiet(now_ns) && interval_.last_ns() > last_input_ns_;
  const bool due = only_late ? now_ns - interval_.last_ns() >= kQuietRequestNs : interval_.is_due(now_ns);
  if (!at_once && !due) return false;
  interval_.restart(now_ns);
  return true;
}

std::chrono::milliseconds FlushSchedule::time_to_sleep(std::int64_t now_ns,
                                                       std::optional<std::int64_t> next_ns) const noexcept {
  const auto longest = is_quiet(now_ns) ? kQuietSleep : kBusySleep;
  if (!next_ns) return longest;
  const auto left = std::chrono::milliseconds((*next_ns - now_ns) / kNsPerMs + 1);
  return std::clamp(left, std::chrono::milliseconds(1), longest);
}

}  // namespace rangefinder
