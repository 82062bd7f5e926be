// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/metrics/metric_packing.h"

#include <algorithm>

#include "profiler/counters/metrics/metric_config.h"

namespace rangefinder {
namespace {

// Metrics of one unit compete for the same counters. After this many refusals the unit counts as full:
// the few metrics that might still fit are not worth a query for each of the others. With 2, one set on
// GA100 takes one more group; with 4, no set on four chips takes one less.
constexpr int kFullAfter = 3;

/// "lts" for "lts__t_bytes.sum"
std::string_view unit_of(std::string_view metric) noexcept {
  return metric.substr(0, metric.find("__"));
}

}  // namespace

std::size_t PassCounter::passes(std::span<const std::string> group, std::span<const std::string> more) const {
  if (cancelled()) return 0;
  std::vector<const char*> names;
  for (const auto part : {group, more})
    for (const std::string& name : part) names.push_back(name.c_str());
  // A new configuration each time: adding metrics to an existing one would plan a second pass.
  MetricConfig config(cupti_);
  return config.build(chip_, availability_, names) == CUPTI_SUCCESS ? config.passes() : 0;
}

MetricPacking::MetricPacking(const PassCounter& counter) : counter_(counter) {
  for (const std::size_t i : {kEngineCycles, kEngineClock}) metrics.emplace_back(kExactMetricNames[i]);
}

void MetricPacking::offer(std::span<const std::string> wanted) {
  for (std::size_t block = wanted.size(); !wanted.empty() && !counter_.cancelled();) {
    block = std::min(block, wanted.size());
    const auto first = wanted.first(block);
    const auto full = refusals_.find(unit_of(first.front()));
    if (block == 1 && full != refusals_.end() && full->second >= kFullAfter) {
      left.push_back(first.front());
      wanted = wanted.subspan(1);
      continue;
    }
    const std::size_t passes = counter_.passes(metrics, first);
    if (passes == 1) {
      metrics.insert(metrics.end(), first.begin(), first.end());
      block *= 2;
    } else if (block > 1) {
      block /= 2;
      continue;
    } else {
      refuse(first.front(), passes);
    }
    wanted = wanted.subspan(first.size());
  }
}

void MetricPacking::refuse(const std::string& metric, std::size_t passes) {
  if (metrics.size() == kSentinelMetrics) {
    impossible.push_back({metric, passes});
    return;
  }
  left.push_back(metric);
  ++refusals_[std::string(unit_of(metric))];
}

}  // namespace rangefinder
