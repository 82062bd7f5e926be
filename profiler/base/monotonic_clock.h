// SPDX-License-Identifier: Apache-2.0
//
// The clock for our own waits and costs: never set back, not slewed by NTP. Times in a trace come from
// another clock (profiler/events/tsc_clock.h).
#pragma once

#include <cstdint>
#include <ctime>

namespace rangefinder {

/// CLOCK_MONOTONIC_RAW in ns.
[[nodiscard]] inline std::int64_t monotonic_now_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace rangefinder
