// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on times without overflow, because a damaged trace may have any times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "profiler/base/duration.h"
#include "schema/read_line.h"
#include "tools/analysis/model/line_parts.h"

namespace rangefinder {

/// The time from `start_ns` to `end_ns`; 0 if `end_ns` is not later.
[[nodiscard]] constexpr std::uint64_t span_ns(TimeNs start_ns, TimeNs end_ns) noexcept {
  return end_ns <= start_ns ? 0 : static_cast<std::uint64_t>(end_ns) - static_cast<std::uint64_t>(start_ns);
}

/// Start of the i-th sample of a run, as defined in schema/README.md; the end of the run for i = count.
[[nodiscard]] constexpr TimeNs sample_start_ns(const SampleRun& run, std::uint32_t i) noexcept {
  if (run.count == 0) return run.start_ns;
  const std::uint64_t length_ns = span_ns(run.start_ns, run.end_ns);
  const std::uint64_t offset_ns = length_ns / run.count * i + length_ns % run.count * i / run.count;
  return static_cast<TimeNs>(static_cast<std::uint64_t>(run.start_ns) + offset_ns);
}

/// The time that the records of a trace cover.
struct CoveredTime {
  TimeNs first_ns = 0, last_ns = 0;  ///< minimum and maximum of 0 and all times
  std::uint64_t untimed = 0;         ///< GPU records without times, which no timeline shows

  void add(TimeNs start_ns, TimeNs end_ns) noexcept {
    if (start_ns != kNoTime) first_ns = std::min(first_ns, start_ns);
    if (end_ns != kNoTime) last_ns = std::max(last_ns, end_ns);
  }
  template <typename Record>
  void add(const Record& record) {
    constexpr bool kMoment = std::is_same_v<Record, MarkRecord> || std::is_same_v<Record, FlushRecord> ||
                             std::is_same_v<Record, EndRecord>;
    if constexpr (std::is_same_v<Record, SamplesRecord>) {
      for (const SampleRun& run : record.runs) add(run.start_ns, run.end_ns);
    } else if constexpr (kMoment) {
      add(record.at_ns, record.at_ns);
    } else if constexpr (!std::is_same_v<Record, MonitorRecord>) {  // its periods are those of no event
      const LineTimes times = times_of(record);
      bool timed = true;
      if constexpr (requires { record.work; }) timed = is_timed(record.work);
      untimed += timed ? 0 : 1;
      if (timed) add(times.start_ns, times.end_ns);
    }
  }
};

}  // namespace rangefinder
