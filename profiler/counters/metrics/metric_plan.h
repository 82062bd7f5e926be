// SPDX-License-Identifier: Apache-2.0
//
// Plans which counters are collected together, for a request such as "bytes,memory".
//
//   "memory,stalls" ─▶ metrics of the sets ─▶ the chip has them? ─▶ groups of one pass each
//                                                  │ no                │ fits in none
//                                                absent            impossible
//
// Metrics that are read from each multiprocessor make every range of their group expensive
// (metric_sets.h). So they get groups of their own, after the other groups of their set.
//
// A range is measured with one group. Several groups take turns over the iterations of a
// path, because nothing is replayed to read more counters. Every group begins with the two
// metrics that give a launch's GPU time (see kExactMetricNames), so that groups can be
// compared. Uses CUPTI's host functions only: needs no GPU and no context. Can take over a
// second for all sets (docs/internals/measured.md): never call it on an application thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/cupti/functions.h"

namespace rangefinder {

/// Metrics that fit in one pass.
struct MetricGroup {
  std::string name;  ///< of its set; "memory/2": second group of a set; "metrics": metrics named individually
  /// CUPTI's names. The first kSentinelMetrics are kExactMetricNames[kEngineCycles] and
  /// [kEngineClock]. Group "bytes" is exactly kExactMetricNames, in that order.
  std::vector<std::string> metrics;
  std::vector<std::string> units;  ///< of metrics, from CUPTI: "bytes", "sectors", "%"; "" if it has none

  /// For CUPTI; valid until the group changes.
  [[nodiscard]] std::vector<const char*> names() const;
};

inline constexpr std::size_t kSentinelMetrics = 2;

/// Launches of a path that one group measures before the next has its first turn.
inline constexpr std::uint32_t kTurnLaunches = 2;

/// A metric that does not fit in one pass with the sentinels. If other metrics add up to it
/// (metric_parts() in metric_sets.h), they are planned in its place.
struct ImpossibleMetric {
  std::string name;
  std::size_t passes = 0;  ///< passes that it needs; 0: CUPTI refuses the combination
};

/// Every metric of a request exactly once: in one group, absent or impossible.
struct MetricPlan {
  std::vector<MetricGroup> groups;  ///< in the order of the request
  std::vector<std::string> absent;  ///< metrics that other chips have, but not this one
  std::vector<ImpossibleMetric> impossible;
  /// Not empty: planning failed, and this sentence says why. For a name that no chip knows, it
  /// suggests the nearest sets or metrics.
  std::string error;
  bool wrong_name = false;  ///< the error is in the request, not from CUPTI
};

/// `plan` as a request, "memory=A+B,memory/2=C": planned again, it takes one query of CUPTI per group.
[[nodiscard]] std::string planned_request(const MetricPlan& plan);

/// `chip`: for example "GH100". `availability`: the device's counter availability image; may be empty.
/// `request`: names of sets (metric_sets.h) and metrics, separated by commas; blanks are ignored. Or a
/// planned request. `cancelled`: once true, planning ends with an error; nullptr: never.
[[nodiscard]] MetricPlan plan_metrics(const CuptiFunctions& cupti, const std::string& chip,
                                      std::span<const std::uint8_t> availability, std::string_view request,
                                      const std::atomic<bool>* cancelled = nullptr);

}  // namespace rangefinder
