// SPDX-License-Identifier: Apache-2.0
//
// Images that the parts of the fake Range Profiler exchange through the tool's memory. The tool must not
// modify them.
//
//   host object ─▶ ConfigImage ─▶ SetConfig      DecodeData ─▶ CounterImage, CounterRange[] ─▶ evaluation
#pragma once

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "tests/injection/fake_cupti.h"

namespace fake {

inline constexpr std::uint64_t kAvailabilityMagic = 0x4c494156'41454b46;
inline constexpr std::uint64_t kConfigMagic = 0x474e4f43'41454b46;
inline constexpr std::uint64_t kCounterMagic = 0x41544144'41454b46;

struct ConfigImage {
  std::uint64_t magic, metrics, passes;
  std::uint64_t serial;  ///< number of earlier images of this process
};

struct CounterRange {
  char name[24];
  std::uint64_t serial;  ///< number of earlier ranges of this process
  std::uint64_t
      undelivered;  ///< not 0: counted with the first configuration of its session, not with its own
};

struct CounterImage {
  std::uint64_t magic, max_ranges, ranges;  // CounterRange[max_ranges] follow
};

/// The supported metrics. The value of range n is base + n; where the step is 0, it is base.
struct Metric {
  const char* name;
  double base;
  double step = 1;
};
/// Part of every configuration, so that each session counts them.
inline constexpr std::size_t kAlwaysCounted = 2;
inline constexpr std::array kMetrics{
    Metric{"gr__cycles_active.sum", 4100},                 // 1000 ns more than a range itself adds
    Metric{"sys__cycles_elapsed.avg.per_second", 1e9, 0},  // 1 GHz: one cycle is 1 ns
    Metric{"dram__bytes_read.sum", 2000},
    Metric{"dram__bytes_write.sum", 3000},
    Metric{"lts__t_bytes.sum", 4000},
    Metric{"gr__cycles_active.avg.pct_of_peak_sustained_elapsed", 100, 0},
    Metric{"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", 50, 0},
    Metric{"pcie__read_bytes.sum", 512, 0},  // there is no NVLink
    Metric{"lts__t_tag_requests_hit.sum", 5000},
    Metric{"lts__t_tag_requests_miss.sum", 6000},
    Metric{"lts__average_t_sector.ratio", std::numeric_limits<double>::quiet_NaN(), 0},  // a ratio of 0 / 0
};

inline const Metric* find_metric(std::string_view name) {
  for (const Metric& metric : kMetrics) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}
inline bool is_metric(const char* name) {
  return name != nullptr && find_metric(name) != nullptr;
}

/// nullptr if `data` is no such image.
inline const ConfigImage* config_image(const std::uint8_t* data, std::size_t bytes) {
  const auto* const image = reinterpret_cast<const ConfigImage*>(data);
  return data != nullptr && bytes >= sizeof(*image) && image->magic == kConfigMagic ? image : nullptr;
}
inline const CounterImage* counter_image(const std::uint8_t* data, std::size_t bytes) {
  const auto* const image = reinterpret_cast<const CounterImage*>(data);
  const bool whole = data != nullptr && bytes >= sizeof(*image) && image->magic == kCounterMagic &&
                     bytes >= sizeof(*image) + image->max_ranges * sizeof(CounterRange);
  return whole ? image : nullptr;
}

/// cuptiProfilerInitialize was called more often than cuptiProfilerDeInitialize.
[[nodiscard]] bool counters_initialized();
/// Id of a context whose counters are started and not yet disabled; 0: none.
[[nodiscard]] std::uint32_t counters_held_by();
/// A context has the Range Profiler enabled, so no other user gets the counters.
[[nodiscard]] bool counter_ranges_enabled();

}  // namespace fake
