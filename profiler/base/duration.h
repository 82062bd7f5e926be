// SPDX-License-Identifier: Apache-2.0
//
// Times of a trace, and the duration between two of them.
#pragma once

#include <cstdint>

namespace rangefinder {

/// Nanoseconds since the base of the trace. Negative for events that began before it.
using TimeNs = std::int64_t;

/// No value: a range that never closed, or a time that CUPTI could not determine.
inline constexpr TimeNs kNoTime = INT64_MIN;

/// 146 years either way: readers reject times beyond it.
inline constexpr TimeNs kMaxNs = (TimeNs{1} << 62) - 1;

inline constexpr std::int64_t kNsPerMs = 1'000'000;

/// Length of [start, end); 0 if one is unknown or they are reversed.
[[nodiscard]] inline std::uint64_t duration_ns(TimeNs start, TimeNs end) noexcept {
  if (start == kNoTime || end == kNoTime || end < start) return 0;
  return static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(start);
}

/// Whether a record, or a part of one, has a start and a later end.
template <typename Timed>
[[nodiscard]] constexpr bool is_timed(const Timed& timed) noexcept {
  return timed.start_ns != kNoTime && timed.end_ns != kNoTime && timed.end_ns >= timed.start_ns;
}

}  // namespace rangefinder
