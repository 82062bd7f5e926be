// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on times that a damaged trace may have put anywhere: nothing here overflows.
#pragma once

#include <cstdint>

#include "schema/record.h"

namespace rangefinder {

/// From `start_ns` to `end_ns`; 0 where that is not forward.
[[nodiscard]] constexpr std::uint64_t span_ns(TimeNs start_ns, TimeNs end_ns) noexcept {
  return end_ns <= start_ns ? 0 : static_cast<std::uint64_t>(end_ns) - static_cast<std::uint64_t>(start_ns);
}

/// Where the i-th sample of a run begins, as schema/README.md defines it; the run's end for i = count.
[[nodiscard]] constexpr TimeNs sample_start_ns(const SampleRun& run, std::uint32_t i) noexcept {
  if (run.count == 0) return run.start_ns;
  const std::uint64_t length_ns = span_ns(run.start_ns, run.end_ns);
  const std::uint64_t offset_ns = length_ns / run.count * i + length_ns % run.count * i / run.count;
  return static_cast<TimeNs>(static_cast<std::uint64_t>(run.start_ns) + offset_ns);
}

}  // namespace rangefinder
