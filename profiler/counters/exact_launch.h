// SPDX-License-Identifier: Apache-2.0
//
// A launch with the counters of the range that was opened for it alone. Plain data:
// it goes from the application's thread to the drain thread and into recordings.
#pragma once

#include <array>
#include <cstdint>

#include "profiler/counters/metric_config.h"
#include "profiler/events/event.h"
#include "schema/record.h"

namespace rangefinder {

/// Why a launch has no values. Written as text into the trace.
enum class Unmeasured : std::uint32_t {
  no,           ///< it has values
  not_started,  ///< counters could not be started for its context
  capturing,    ///< made while a stream of the process was being captured
  busy,         ///< another launch held the context's counters for too long
  lost,         ///< CUPTI returned no values for its range
  shared,       ///< another launch ran in its range
};

[[nodiscard]] constexpr const char* unmeasured_text(Unmeasured why) noexcept {
  switch (why) {
    case Unmeasured::no:
      return "";
    case Unmeasured::not_started:
      return "counters could not be started for this context";
    case Unmeasured::capturing:
      return "a stream was being captured";
    case Unmeasured::busy:
      return "another launch held the counters for too long";
    case Unmeasured::lost:
      return "CUPTI returned no values for this launch";
    case Unmeasured::shared:
      return "another launch ran in its counter range";
  }
  return "";
}

struct ExactLaunch {
  Event event;               ///< of kind launch
  std::uint32_t thread = 0;  ///< gettid()
  std::uint32_t gpu = 0;
  std::uint32_t name = 0;  ///< kernel: NameTable id of the mangled name
  WorkKind kind = WorkKind::kernel;
  Unmeasured unmeasured = Unmeasured::lost;
  Dim3 grid, block;
  std::uint64_t bytes = 0;
  std::array<double, kExactMetrics> values{};
};

}  // namespace rangefinder
