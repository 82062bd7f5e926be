// SPDX-License-Identifier: Apache-2.0
//
// Which counters are collected together, for a request such as "bytes,memory".
//
//   "memory,stalls" ─▶ metrics of the sets ─▶ the chip has them? ─▶ groups of one pass each
//                                                  │ no                │ none holds it
//                                                absent            impossible
//
// Metrics that are read from each multiprocessor make every range of their group dear
// (metric_sets.h), so they have groups of their own, behind the others of their set.
//
// A range is measured with one group; several groups take turns over the repetitions of a
// path, since nothing is ever run twice to read more counters. Every group begins with the
// two metrics that give a launch's GPU time (kExactMetricNames says why these), so that
// groups can be compared. Asks CUPTI's host functions only: needs no GPU and no context.
// Takes some hundred milliseconds for all sets (docs/measured.md): never call it on a thread
// of the application.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/cupti/functions.h"

namespace rangefinder {

/// Metrics that one pass holds.
struct MetricGroup {
  std::string
      name;  ///< of its set; "memory/2" for the second group of a set; "metrics" for those named alone
  /// As CUPTI calls them. The first kSentinelMetrics are kExactMetricNames[kEngineCycles] and
  /// [kEngineClock]; all of group "bytes" is kExactMetricNames in that order.
  std::vector<std::string> metrics;
  std::vector<std::string>
      units;  ///< of metrics, as CUPTI says: "bytes", "sectors", "%"; "" where it says none

  /// For CUPTI; valid as long as the group is not changed.
  [[nodiscard]] std::vector<const char*> names() const;
};

inline constexpr std::size_t kSentinelMetrics = 2;

/// A metric that one pass cannot hold together with the sentinels. Where others add up to it
/// (metric_parts() in metric_sets.h) they are planned in its place.
struct ImpossibleMetric {
  std::string name;
  std::size_t passes = 0;  ///< that it takes; 0: CUPTI refuses it in this combination
};

/// Every metric of a request, once: in one group, absent or impossible.
struct MetricPlan {
  std::vector<MetricGroup> groups;  ///< in the order of the request
  std::vector<std::string> absent;  ///< this chip has no such metric, another has
  std::vector<ImpossibleMetric> impossible;
  /// Not empty: no plan was made, and this one sentence says why. It names the nearest sets
  /// or metrics where the request has a name that no chip knows.
  std::string error;
  bool wrong_name = false;  ///< error is about the request, not about CUPTI
};

/// `chip` as in "GH100"; `availability`: image of what the real device offers, may be empty;
/// `request`: names of sets (metric_sets.h) and metrics, separated by commas, blanks ignored.
[[nodiscard]] MetricPlan plan_metrics(const CuptiFunctions& cupti, const std::string& chip,
                                      std::span<const std::uint8_t> availability, std::string_view request);

}  // namespace rangefinder
