// SPDX-License-Identifier: Apache-2.0
//
// The metrics that belong together, by name: the one table behind --metrics, its help,
// `rangefinder metrics` and the planning of passes (metric_plan.h). A set names what any
// chip may offer for its question; which of it a chip lacks is found at run time.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rangefinder {

struct MetricSet {
  const char* name;
  const char* answers;  ///< what it is for, in a few words
  /// The most important first: they share a pass where the hardware allows it.
  std::span<const char* const> metrics;
};

/// All sets; `bytes`, which exact mode collects by default, is the first.
[[nodiscard]] std::span<const MetricSet> metric_sets() noexcept;

/// nullptr: there is no such set.
[[nodiscard]] const MetricSet* find_metric_set(std::string_view name) noexcept;

/// Some set has this metric, though a chip may lack it.
[[nodiscard]] bool in_a_metric_set(std::string_view metric) noexcept;

/// Values of several launches may be added (bytes, sectors); else (percent, ratios) averaged.
[[nodiscard]] bool adds_up(std::string_view metric) noexcept;

/// Read from each multiprocessor: one of them makes a range 17 times as long as one without
/// (775 us for 47 us on an H200), further ones do not lengthen it.
[[nodiscard]] bool counts_every_multiprocessor(std::string_view metric) noexcept;

/// Metrics whose sum is `metric`, to be counted where one pass cannot hold `metric` itself; else empty.
[[nodiscard]] std::span<const char* const> metric_parts(std::string_view metric) noexcept;

/// "bytes, memory, compute, ..."
[[nodiscard]] std::string metric_set_names();

}  // namespace rangefinder
