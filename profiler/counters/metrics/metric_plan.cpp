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

constexpr const char* kNamedAlone = "metrics";  // the group of metrics that were not asked for by a set

using Names = std::vector<std::string>;

/// What one item of the request stands for: a set, or all metrics named alone.
struct Wish {
  std::string group;
  Names metrics;
};

/// Reads the request. False: `plan.error` says what is wrong with it.
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
      if (const MetricSet* const set = find_metric_set(item)) {
        Wish& wish = wish_of(set->name);
        for (const char* const metric : set->metrics) take(wish, metric);
      } else if (!read_metric(std::string(item))) {
        return false;
      }
    }
    if (wishes.empty()) {
      plan_.error = "no metric is named; the sets are " + metric_set_names();
      plan_.wrong_name = true;
    }
    return !wishes.empty();
  }

  std::vector<Wish> wishes;

 private:
  Wish& wish_of(const std::string& group) {
    for (Wish& wish : wishes)
      if (wish.group == group) return wish;
    return wishes.emplace_back(Wish{group, {}});
  }

  [[nodiscard]] bool read_metric(const std::string& name) {
    MetricInfo info;
    const bool has_suffix = base_of(name) != name;  // CUPTI describes bases too, but counts none
    const bool known = catalog_.describe(name, info) || in_a_metric_set(name) || another_chip_has(name);
    if (!has_suffix || !known) {
      plan_.error = unknown_metric_text(catalog_, name);
      plan_.wrong_name = true;
      return false;
    }
    take(wish_of(kNamedAlone), name);
    return true;
  }

  void take(Wish& wish, const std::string& metric) {
    if (!seen_.insert(metric).second) return;
    MetricInfo info;
    if (catalog_.describe(metric, info)) {
      wish.metrics.push_back(metric);
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

/// What replaces the impossible ones: metrics that add up to them.
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

/// Packs until nothing is left; `number`: of the wish's next group.
void pack(const Wish& wish, Names wanted, const PassCounter& counter, const MetricCatalog& catalog,
          std::size_t& number, MetricPlan& plan) {
  while (!wanted.empty()) {
    MetricPacking packing(counter);
    packing.offer(wanted);
    wanted = std::move(packing.left);
    for (std::string& part : parts_of(packing.impossible, catalog)) wanted.push_back(std::move(part));
    plan.impossible.insert(plan.impossible.end(), packing.impossible.begin(), packing.impossible.end());
    if (packing.metrics.size() == kSentinelMetrics) continue;
    const std::string name = number == 1 ? wish.group : wish.group + "/" + std::to_string(number);
    plan.groups.push_back(described(name, std::move(packing.metrics), catalog));
    ++number;
  }
}

/// No group where the chip lacks all metrics, or other groups have them.
void plan_wish(const Wish& wish, const PassCounter& counter, const MetricCatalog& catalog, MetricPlan& plan) {
  Names cheap, dear;
  for (const std::string& metric : wish.metrics)
    (counts_every_multiprocessor(metric) ? dear : cheap).push_back(metric);
  std::size_t number = 1;
  pack(wish, std::move(cheap), counter, catalog, number, plan);
  pack(wish, std::move(dear), counter, catalog, number, plan);
}

}  // namespace

std::vector<const char*> MetricGroup::names() const {
  std::vector<const char*> out;
  for (const std::string& metric : metrics) out.push_back(metric.c_str());
  return out;
}

MetricPlan plan_metrics(const CuptiFunctions& cupti, const std::string& chip,
                        std::span<const std::uint8_t> availability, std::string_view request) {
  MetricPlan plan;
  MetricCatalog catalog(cupti);
  if (const CUptiResult result = catalog.open(chip, availability); result != CUPTI_SUCCESS) {
    plan.error = "CUPTI cannot describe the chip " + chip + ": " + cupti_result_text(cupti, result);
    return plan;
  }
  RequestReader reader(cupti, chip, catalog, plan);
  if (!reader.read(request)) return plan;
  const PassCounter counter(cupti, chip, availability);
  const Names sentinels = MetricPacking(counter).metrics;
  if (const std::size_t passes = counter.passes(sentinels, {}); passes != 1) {
    const std::string both = sentinels[0] + " and " + sentinels[1];
    plan.error =
        chip + " cannot time a launch by its counters: " +
        (passes == 0 ? "CUPTI refuses " + both : both + " take " + std::to_string(passes) + " passes");
    return plan;
  }
  for (const Wish& wish : reader.wishes) plan_wish(wish, counter, catalog, plan);
  return plan;
}

}  // namespace rangefinder
