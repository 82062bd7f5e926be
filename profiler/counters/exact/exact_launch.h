// SPDX-License-Identifier: Apache-2.0
//
// A launch with the counters of its own range, or a range that several launches share.
// Plain data: passed from the application's thread to the drain thread and into recordings.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "profiler/counters/metrics/metric_config.h"
#include "profiler/events/event.h"
#include "schema/record.h"

namespace rangefinder {

/// Maximum number of metrics per counter range.
inline constexpr std::size_t kMaxRangeMetrics = 48;

/// Id of a metric group in the trace, unique over all GPUs.
[[nodiscard]] constexpr std::uint32_t metric_set_id(std::uint32_t gpu, std::size_t group) noexcept {
  constexpr std::uint32_t kMaxGroups = 256;
  return gpu * kMaxGroups + static_cast<std::uint32_t>(group) + 1;
}

/// Whether a launch has counter values and, if not, why. Written as text into the trace.
enum class CounterOutcome : std::uint32_t {
  measured,     ///< it has values
  not_started,  ///< counters could not be started for the context
  capturing,    ///< launched while a stream of the process was in capture
  busy,         ///< another launch held the context's counters for too long
  lost,         ///< CUPTI returned no values for the range
  shared,       ///< another launch ran in the range
  turn,         ///< another context holds the GPU's counters
  waiting,      ///< earlier work had not ended, and a range would have waited for it
  may_wait,     ///< the kernel may wait for work launched after it
  not_wanted,   ///< excluded by --exact-range or --exact-kernel: not written to the trace
};

[[nodiscard]] constexpr const char* counter_outcome_text(CounterOutcome outcome) noexcept {
  switch (outcome) {
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
  Event event;               ///< of kind launch; range: start of its first launch, end of its last
  std::uint32_t thread = 0;  ///< gettid()
  std::uint32_t gpu = 0;
  std::uint32_t name = 0;  ///< kernel: NameTable id of the mangled name
  WorkKind kind = WorkKind::kernel;
  CounterOutcome outcome = CounterOutcome::lost;
  Dim3 grid, block;
  std::uint64_t bytes = 0;
  std::uint64_t counter_range = 0;  ///< id of the shared range; 0: the launch has its own
  std::uint32_t launches = 0;       ///< range: launches in it
  std::uint32_t kernels = 0;        ///< of these, kernels and graphs
  bool is_counter_range = false;
  bool exclusive = true;
  std::uint16_t group = 0;  ///< index into MetricPlan::groups: the metrics of `values`
  std::array<double, kMaxRangeMetrics> values{};
};

}  // namespace rangefinder
