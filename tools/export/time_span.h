// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on times without overflow, because a damaged trace may have any times.
#pragma once

#include <cstdint>

#include "schema/record.h"

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

}  // namespace rangefinder
