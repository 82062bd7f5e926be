// SPDX-License-Identifier: Apache-2.0
//
// A launch with the counters of the range that was opened for it, or such a range with
// all its launches. Plain data: it goes from the application's thread to the drain thread
// and into recordings.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "profiler/counters/metrics/metric_config.h"
#include "profiler/events/event.h"
#include "schema/record.h"

namespace rangefinder {

/// Most metrics that one counter range yields.
inline constexpr std::size_t kMaxRangeMetrics = 48;

/// Number of a group of metrics in the trace, by which it is told apart over all GPUs.
[[nodiscard]] constexpr std::uint32_t metric_set_id(std::uint32_t gpu, std::size_t group) noexcept {
  constexpr std::uint32_t kMaxGroups = 256;
  return gpu * kMaxGroups + static_cast<std::uint32_t>(group) + 1;
}

/// Why there are no values. Written as text into the trace.
enum class CounterOutcome : std::uint32_t {
  measured,     ///< it has values
  not_started,  ///< counters could not be started for its context
  capturing,    ///< made while a stream of the process was being captured
  busy,         ///< another launch held the context's counters for too long
  lost,         ///< CUPTI returned no values for its range
  shared,       ///< another launch ran in its range
  turn,         ///< another context of the GPU has its turn
  waiting,      ///< earlier work had not ended: a range would have had to wait for it
  may_wait,     ///< the kernel may wait for work launched after it
  not_wanted,   ///< outside of what --exact-range and --exact-kernel name: no line of its own
};

[[nodiscard]] constexpr const char* counter_outcome_text(CounterOutcome why) noexcept {
  switch (why) {
    case CounterOutcome::measured:
    case CounterOutcome::not_wanted:
      return "";
    case CounterOutcome::not_started:
      return "counters could not be started for this context";
    case CounterOutcome::capturing:
      return "a stream was being captured";
    case CounterOutcome::busy:
      return "another launch held the counters for too long";
    case CounterOutcome::lost:
      return "CUPTI returned no values for this launch";
    case CounterOutcome::shared:
      return "another launch ran in its counter range";
    case CounterOutcome::turn:
      return "another context of this GPU had its turn";
    case CounterOutcome::waiting:
      return "earlier work had not ended, and a counter range would have waited for it";
    case CounterOutcome::may_wait:
      return "this kernel may wait for work that is launched later";
  }
  return "";
}

struct ExactLaunch {
  Event event;               ///< of kind launch; of a range: start of its first, end of its last launch
  std::uint32_t thread = 0;  ///< gettid()
  std::uint32_t gpu = 0;
  std::uint32_t name = 0;  ///< kernel: NameTable id of the mangled name
  WorkKind kind = WorkKind::kernel;
  CounterOutcome outcome = CounterOutcome::lost;
  Dim3 grid, block;
  std::uint64_t bytes = 0;
  std::uint64_t counter_range = 0;  ///< number of the range that it shares; 0: one of its own
  std::uint32_t launches = 0;       ///< of a range: launches in it, of which
  std::uint32_t kernels = 0;        ///< kernels and graphs
  bool is_counter_range = false;
  bool exclusive = true;
  std::uint16_t group = 0;  ///< MetricPlan::groups: what `values` are of
  std::array<double, kMaxRangeMetrics> values{};
};

}  // namespace rangefinder
