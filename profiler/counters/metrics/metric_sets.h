// SPDX-License-Identifier: Apache-2.0
//
// Named sets of metrics: the only table behind --metrics, its help, `rangefinder metrics`
// and the planning of passes (metric_plan.h). A set lists the metrics of all chips. Those
// that a chip lacks are found at run time.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rangefinder {

struct MetricSet {
  const char* name;
  const char* answers;  ///< its purpose, in a few words
  /// Most important first: the first ones share a pass if the hardware allows it.
  std::span<const char* const> metrics;
};

/// All sets. The first is `bytes`, which exact mode collects by default.
[[nodiscard]] std::span<const MetricSet> metric_sets() noexcept;

/// nullptr: no such set.
[[nodiscard]] const MetricSet* find_metric_set(std::string_view name) noexcept;

/// Whether any set has this metric. The chip may still lack it.
[[nodiscard]] bool in_a_metric_set(std::string_view metric) noexcept;

/// True: values of several launches are summed (bytes, sectors). False: averaged (percent, ratios).
[[nodiscard]] bool adds_up(std::string_view metric) noexcept;

/// Whether the metric is read from each multiprocessor. The first such metric makes a range 17 times as
/// long (775 us instead of 47 us on an H200); further ones add nothing.
[[nodiscard]] bool counts_every_multiprocessor(std::string_view metric) noexcept;

/// Metrics whose sum is `metric`, collected if `metric` itself does not fit in one pass; else empty.
[[nodiscard]] std::span<const char* const> metric_parts(std::string_view metric) noexcept;

/// "bytes, memory, compute, ..."
[[nodiscard]] std::string metric_set_names();

}  // namespace rangefinder
