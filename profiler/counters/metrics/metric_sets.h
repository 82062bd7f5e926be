// SPDX-License-Identifier: Apache-2.0
//
// Named sets of metrics: the only table behind --metrics, its help, `rangefinder metrics`
// and the planning of passes (metric_plan.h). Most sets collect the inputs of named metrics of one topic
// (profiler/metrics/named_metrics.h). A set lists the metrics of all chips. Those that a chip lacks are found
// at run time.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rangefinder {

struct MetricSet {
  const char* name;
  const char* answers;  ///< its purpose, in a few words; of an alias empty
  /// Most important first: the first ones share a pass if the hardware allows it.
  std::vector<std::string> metrics;
  /// Not empty: only an older name of these sets.
  std::vector<const char*> alias_of = {};
};

/// All sets, then their aliases. The first is `bytes`, which exact mode collects by default.
[[nodiscard]] const std::vector<MetricSet>& metric_sets();

/// nullptr: no such set.
[[nodiscard]] const MetricSet* find_metric_set(std::string_view name);

/// Whether any set has this metric. The chip may still lack it.
[[nodiscard]] bool in_a_metric_set(std::string_view metric);

/// Whether the metric is read from each multiprocessor. The first such metric makes a range 17 times as
/// long (775 us instead of 47 us on an H200); further ones add nothing.
[[nodiscard]] bool counts_every_multiprocessor(std::string_view metric) noexcept;

/// Metrics whose sum is `metric`, collected if `metric` itself does not fit in one pass; else empty.
[[nodiscard]] std::span<const char* const> metric_parts(std::string_view metric) noexcept;

/// "bytes, speed-of-light, memory, ...", without aliases
[[nodiscard]] std::string metric_set_names();

}  // namespace rangefinder
