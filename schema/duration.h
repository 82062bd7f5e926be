// SPDX-License-Identifier: Apache-2.0
//
// How long something took, by two times of a trace.
#pragma once

#include <cstdint>

#include "schema/record.h"

namespace rangefinder {

/// Length of [start, end); 0 where one is unknown or they are reversed.
[[nodiscard]] inline std::uint64_t duration_ns(TimeNs start, TimeNs end) noexcept {
  if (start == kNoTime || end == kNoTime || end < start) return 0;
  return static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(start);
}

}  // namespace rangefinder
