// SPDX-License-Identifier: Apache-2.0
//
// CPU time of the calling thread, for own_cost.
#pragma once

#include <time.h>

#include <cstdint>

namespace rangefinder {

/// In ns.
[[nodiscard]] inline std::uint64_t thread_cpu_ns() noexcept {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(used.tv_nsec);
}

}  // namespace rangefinder
