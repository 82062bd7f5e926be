// SPDX-License-Identifier: Apache-2.0
//
// The table of named metrics: what a user reads ("achieved occupancy, 47 %"), each with its formula over
// CUPTI's metrics. Sets (metric_sets.h) collect the formulas' inputs, reports evaluate them.
//
//   named_metrics() ─▶ collected_for()  CUPTI metrics to collect, for --metrics (metric_formula.h)
//                   ─▶ formula_text()   docs/reference/metrics.md (metric_formula.h)
//                   ─▶ named_values()   over measured values (profiler/attribution/named_values.h)
//
// Every input fits one pass of the hardware, or has parts that do. So nothing is replayed. Inputs of one
// formula may be measured in different launches of a kernel, in turn.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace rangefinder {

enum class MetricForm : std::uint8_t {
  first,       ///< factor * the first measured input: names differ by chip
  sum,         ///< factor * sum of inputs
  ratio,       ///< factor * sum of inputs / sum of `under`
  peak_share,  ///< largest of: 100 * input.sum / (input's peak rate * GPU time); inputs without suffix
  flop         ///< FLOP, by operations_of(): more than a formula; inputs are those of the set `roofline`
};

/// An input of a formula.
struct MetricInput {
  const char* name;        ///< CUPTI's; in peak_share without a suffix
  const char* title = "";  ///< of a part, for people: "L2 tag lookups"
  /// Some chips lack it. Without it in the trace the formula does without; planned but not measured, the
  /// result is unknown.
  bool optional = false;
};

/// In which direction a value is better.
enum class Better : std::uint8_t { higher, lower, neither };

/// What a metric says something about. Groups the rows of tables.
enum class MetricTopic : std::uint8_t { speed_of_light, memory, occupancy, pipes, stalls, roofline };

struct NamedMetric {
  const char* name;    ///< key in JSON and CSV: "achieved_occupancy"
  const char* title;   ///< for people: "achieved occupancy"
  const char* column;  ///< the same in a column: "occupancy"
  const char* unit;    ///< "%", "sectors", "bytes"; of a rate "instructions/cycle"
  MetricTopic topic;
  MetricForm form;
  double factor;
  std::span<const MetricInput> inputs;
  std::span<const MetricInput> under;  ///< ratio: the denominator
  Better better;
  const char* meaning;  ///< one or more sentences
};

/// Suffix of a unit's highest rate in peak_share: units of the input per second.
inline constexpr std::string_view kPeakRate = ".sum.peak_sustained_elapsed.per_second";
/// "speed-of-light": the set that collects the metrics of a topic.
[[nodiscard]] const char* topic_name(MetricTopic topic) noexcept;

[[nodiscard]] std::span<const NamedMetric> named_metrics() noexcept;
/// nullptr: no such metric.
[[nodiscard]] const NamedMetric* find_named_metric(std::string_view name) noexcept;
/// True: values of several launches are summed (bytes, sectors). False: averaged (percent, ratios).
[[nodiscard]] inline bool metric_adds_up(std::string_view metric) noexcept {
  return metric.ends_with(".sum");
}

}  // namespace rangefinder
