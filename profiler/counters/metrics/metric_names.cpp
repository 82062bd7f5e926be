// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/metrics/metric_names.h"

#include <algorithm>
#include <vector>

#include "profiler/base/edit_distance.h"
#include "profiler/counters/metrics/metric_sets.h"

namespace rangefinder {
namespace {

/// `base` with the typed suffix if it has that one, else with its most common suffix.
std::string completed(const MetricCatalog& catalog, const std::string& base, std::string_view typed_suffix) {
  const std::vector<std::string> suffixes = catalog.suffixes(base);
  for (const std::string_view wanted : {typed_suffix, std::string_view(".sum"), std::string_view(".ratio"),
                                        std::string_view(".avg.pct_of_peak_sustained_elapsed")}) {
    if (std::find(suffixes.begin(), suffixes.end(), wanted) != suffixes.end())
      return base + std::string(wanted);
  }
  return base;
}

}  // namespace

std::string_view base_of(std::string_view metric) noexcept {
  // Some base metrics have dots before the unit: TPC.TriageCompute.sm__inst_executed_realtime
  const std::size_t unit_end = metric.rfind("__");
  return metric.substr(0, metric.find('.', unit_end == std::string_view::npos ? 0 : unit_end));
}

std::string unknown_metric_text(const MetricCatalog& catalog, std::string_view name) {
  const std::string_view base = base_of(name);
  const std::string_view suffix = name.substr(base.size());
  const std::vector<std::string> suffixes = catalog.suffixes(std::string(base));
  if (!suffixes.empty()) {
    if (suffix.empty())
      return "the metric " + std::string(base) + " needs a suffix, as in " +
             completed(catalog, std::string(base), "");
    return "the metric " + std::string(base) + " has no " + std::string(suffix) + "; did you mean " +
           alternatives_text(nearest_names(suffixes, suffix)) + "?";
  }
  std::vector<std::string> sets;
  for (const MetricSet& set : metric_sets()) sets.emplace_back(set.name);
  const std::string unknown = "there is no set or metric " + std::string(name) + "; did you mean ";
  const std::vector<std::string> near_metrics = nearest_names(catalog.base_metrics(""), base);
  const std::string near_set = nearest_names(sets, name).front();
  const bool looks_like_set = name.find("__") == std::string_view::npos;
  if (looks_like_set && (near_metrics.empty() || edit_distance(name, near_set) <= name.size() / 2))
    return unknown + "the set " + near_set + "?";
  std::vector<std::string> metrics;
  for (const std::string& metric : near_metrics) metrics.push_back(completed(catalog, metric, suffix));
  if (metrics.empty() || looks_like_set) metrics.push_back("one of the sets (" + metric_set_names() + ")");
  return unknown + alternatives_text(metrics) + "?";
}

}  // namespace rangefinder
