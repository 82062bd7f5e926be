// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/metrics/metric_plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "profiler/counters/metrics/metric_catalog.h"
#include "profiler/counters/metrics/metric_config.h"
#include "profiler/counters/metrics/metric_names.h"
#include "profiler/counters/metrics/metric_packing.h"
#include "profiler/counters/metrics/metric_sets.h"
#include "profiler/cupti/loader.h"

namespace rangefinder {
namespace {

constexpr const char* kCancelled = "the process ended while its counters were being planned";
constexpr const char* kIndividualGroup = "metrics";  // group of metrics that were requested by name

using Names = std::vector<std::string>;

/// One item of the request: a set, or all metrics requested by name.
struct RequestItem {
  std::string group;
  Names metrics;
};

/// Parses the request. False: `plan.error` says what is wrong.
class RequestReader {
 public:
  RequestReader(const CuptiFunctions& cupti, const std::string& chip, const MetricCatalog& catalog,
                MetricPlan& plan)
      : cupti_(cupti), chip_(chip), catalog_(catalog), plan_(plan) {
    for (const std::size_t i : {kEngineCycles, kEngineClock}) seen_.insert(kExactMetricNames[i]);
  }

  [[nodiscard]] bool read(std::string_view request) {
    for (std::size_t at = 0; at <= request.size();) {
      const std::size_t comma = std::min(request.find(',', at), request.size());
      std::string_view item = request.substr(at, comma - at);
      at = comma + 1;
      item.remove_prefix(std::min(item.find_first_not_of(' '), item.size()));
      item = item.substr(0, item.find_last_not_of(' ') + 1);
      if (item.empty()) continue;
      if (const std::size_t name_end = item.find('='); name_end != std::string_view::npos) {
        take_planned(std::string(item.substr(0, name_end)), item.substr(name_end + 1));
      } else if (const MetricSet* const set = find_metric_set(item)) {
        take(*set);
      } else if (!read_metric(std::string(item))) {
        return false;
      }
    }
    if (items.empty()) {
      plan_.error = "no metric is named; the sets are " + metric_set_names();
      plan_.wrong_name = true;
    }
    return !items.empty();
  }

  std::vector<RequestItem> items;

 private:
  RequestItem& item_of(const std::string& group) {
    for (RequestItem& item : items)
      if (item.group == group) return item;
    return items.emplace_back(RequestItem{group, {}});
  }

  /// `metrics`: "A+B" of a planned request.
  void take_planned(const std::string& group, std::string_view metrics) {
    RequestItem& requested = item_of(group);
    for (std::size_t at = 0; at <= metrics.size();) {
      const std::size_t end = std::min(metrics.find('+', at), metrics.size());
      take(requested, std::string(metrics.substr(at, end - at)));
      at = end + 1;
    }
  }

  void take(const MetricSet& set) {
    for (const char* const other : set.alias_of) take(*find_metric_set(other));
    if (set.metrics.empty()) return;
    RequestItem& requested = item_of(set.name);
    for (const std::string& metric : set.metrics) take(requested, metric);
  }

  [[nodiscard]] bool read_metric(const std::string& name) {
    MetricInfo info;
    const bool has_suffix = base_of(name) != name;  // CUPTI describes base metrics, but cannot collect them
    const bool known = catalog_.describe(name, info) || in_a_metric_set(name) || another_chip_has(name);
    if (!has_suffix || !known) {
      plan_.error = unknown_metric_text(catalog_, name);
      plan_.wrong_name = true;
      return false;
    }
    take(item_of(kIndividualGroup), name);
    return true;
  }

  void take(RequestItem& item, const std::string& metric) {
    if (!seen_.insert(metric).second) return;
    MetricInfo info;
    if (catalog_.describe(metric, info)) {
      item.metrics.push_back(metric);
    } else {
      plan_.absent.push_back(metric);
    }
  }

  [[nodiscard]] bool another_chip_has(const std::string& metric) const {
    Names chips;
    if (supported_chips(cupti_, chips) != CUPTI_SUCCESS) return false;
    return std::any_of(chips.begin(), chips.end(), [&](const std::string& chip) {
      MetricCatalog other(cupti_);
      MetricInfo info;
      return chip != chip_ && other.open(chip, {}) == CUPTI_SUCCESS && other.describe(metric, info);
    });
  }

  const CuptiFunctions& cupti_;
  const std::string& chip_;
  const MetricCatalog& catalog_;
  MetricPlan& plan_;
  std::set<std::string, std::less<>> seen_;
};

MetricGroup described(std::string name, Names metrics, const MetricCatalog& catalog) {
  MetricGroup group{std::move(name), std::move(metrics), {}};
  for (const std::string& metric : group.metrics) {
    MetricInfo info;
    (void)catalog.describe(metric, info);
    group.units.push_back(info.unit);
  }
  return group;
}

/// Metrics that add up to the impossible ones and replace them.
Names parts_of(std::span<const ImpossibleMetric> impossible, const MetricCatalog& catalog) {
  Names parts;
  for (const ImpossibleMetric& metric : impossible) {
    for (const char* const part : metric_parts(metric.name)) {
      MetricInfo info;
      if (catalog.describe(part, info)) parts.emplace_back(part);
    }
  }
  return parts;
}

/// Packs until no metric is left. `number`: number of the item's next group.
void pack(const RequestItem& item, Names wanted, const PassCounter& counter, const MetricCatalog& catalog,
          std::size_t& number, MetricPlan& plan) {
  while (!wanted.empty() && !counter.cancelled()) {
    MetricPacking packing(counter);
    packing.offer(wanted);
    wanted = std::move(packing.left);
    for (std::string& part : parts_of(packing.impossible, catalog)) wanted.push_back(std::move(part));
    plan.impossible.insert(plan.impossible.end(), packing.impossible.begin(), packing.impossible.end());
    if (packing.metrics.size() == kSentinelMetrics) continue;
    const std::string name = number == 1 ? item.group : item.group + "/" + std::to_string(number);
    plan.groups.push_back(described(name, std::move(packing.metrics), catalog));
    ++number;
  }
}

/// Adds no group if the chip lacks all metrics or other groups have them.
void plan_item(const RequestItem& item, const PassCounter& counter, const MetricCatalog& catalog,
               MetricPlan& plan) {
  Names cheap, expensive;
  for (const std::string& metric : item.metrics)
    (counts_every_multiprocessor(metric) ? expensive : cheap).push_back(metric);
  std::size_t number = 1;
  pack(item, std::move(cheap), counter, catalog, number, plan);
  pack(item, std::move(expensive), counter, catalog, number, plan);
}

}  // namespace

std::vector<const char*> MetricGroup::names() const {
  std::vector<const char*> out;
  for (const std::string& metric : metrics) out.push_back(metric.c_str());
  return out;
}

std::string planned_request(const MetricPlan& plan) {
  std::string out;
  for (const MetricGroup& group : plan.groups) {
    out += (out.empty() ? "" : ",") + group.name + "=";
    for (std::size_t i = kSentinelMetrics; i < group.metrics.size(); ++i)
      out += (i == kSentinelMetrics ? "" : "+") + group.metrics[i];
  }
  return out;
}

MetricPlan plan_metrics(const CuptiFunctions& cupti, const std::string& chip,
                        std::span<const std::uint8_t> availability, std::string_view request,
                        const std::atomic<bool>* cancelled) {
  MetricPlan plan;
  const PassCounter counter(cupti, chip, availability, cancelled);
  if (counter.cancelled()) {
    plan.error = kCancelled;
    return plan;
  }
  MetricCatalog catalog(cupti);
  if (const CUptiResult result = catalog.open(chip, availability); result != CUPTI_SUCCESS) {
    plan.error = "CUPTI cannot describe the chip " + chip + ": " + cupti_result_text(cupti, result);
    return plan;
  }
  RequestReader reader(cupti, chip, catalog, plan);
  if (!reader.read(request)) return plan;
  const Names sentinels = MetricPacking(counter).metrics;
  if (const std::size_t passes = counter.passes(sentinels, {}); passes != 1) {
    const std::string both = sentinels[0] + " and " + sentinels[1];
    plan.error =
        chip + " cannot time a launch by its counters: " +
        (passes == 0 ? "CUPTI refuses " + both : both + " take " + std::to_string(passes) + " passes");
    return plan;
  }
  for (const RequestItem& item : reader.items) plan_item(item, counter, catalog, plan);
  if (counter.cancelled()) plan.error = kCancelled;
  return plan;
}

}  // namespace rangefinder
