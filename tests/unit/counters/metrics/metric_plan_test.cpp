// SPDX-License-Identifier: Apache-2.0
//
// Plans for any chip with CUPTI's own host API, which needs no GPU.
#include "profiler/counters/metrics/metric_plan.h"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "profiler/counters/metrics/metric_config.h"
#include "profiler/counters/metrics/metric_sets.h"
#include "tests/catch.h"
#include "tests/unit/counters/counters_loaded.h"

using namespace rangefinder;

namespace {

using Names = std::vector<std::string>;

const Names kExact(std::begin(kExactMetricNames), std::end(kExactMetricNames));
constexpr const char* kChips[] = {"GH100", "GA100", "AD102", "GB100"};
constexpr const char* kAllSets = "all";

/// The plan of a set on a chip with CUPTI 13.0 Update 1.
struct Expected {
  const char* chip;
  const char* set;
  std::size_t groups;
  std::size_t absent;
  std::size_t impossible;
};
const std::vector<Expected> kExpected = {
    {"GH100", "bytes", 1, 0, 0},    {"GH100", "speed-of-light", 6, 0, 0},
    {"GH100", "memory", 10, 0, 0},  {"GH100", "occupancy", 1, 0, 0},
    {"GH100", "stalls", 6, 0, 0},   {"GH100", "pipes", 3, 1, 0},
    {"GH100", "roofline", 7, 6, 2}, {"GH100", "all", 25, 7, 2},
    {"GA100", "bytes", 1, 0, 0},    {"GA100", "speed-of-light", 6, 2, 1},
    {"GA100", "memory", 10, 0, 0},  {"GA100", "occupancy", 1, 0, 0},
    {"GA100", "stalls", 6, 1, 0},   {"GA100", "pipes", 2, 1, 0},
    {"GA100", "roofline", 6, 6, 1}, {"GA100", "all", 24, 10, 2},
    {"AD102", "bytes", 1, 0, 0},    {"AD102", "speed-of-light", 6, 0, 0},
    {"AD102", "memory", 11, 1, 0},  {"AD102", "occupancy", 1, 0, 0},
    {"AD102", "stalls", 6, 1, 0},   {"AD102", "pipes", 3, 1, 0},
    {"AD102", "roofline", 8, 5, 1}, {"AD102", "all", 26, 8, 1},
    {"GB100", "bytes", 1, 0, 0},    {"GB100", "speed-of-light", 5, 0, 0},
    {"GB100", "memory", 9, 4, 0},   {"GB100", "occupancy", 1, 0, 0},
    {"GB100", "stalls", 6, 2, 0},   {"GB100", "pipes", 3, 1, 0},
    {"GB100", "roofline", 5, 3, 5}, {"GB100", "all", 21, 10, 5},
};

std::vector<MetricSet> sets_without_aliases() {
  std::vector<MetricSet> out;
  std::copy_if(metric_sets().begin(), metric_sets().end(), std::back_inserter(out),
               [](const MetricSet& set) { return set.alias_of.empty(); });
  return out;
}

MetricPlan plan_of(const CuptiFunctions& cupti, const char* chip, const std::string& request) {
  return plan_metrics(cupti, chip, {}, request);
}

/// How often each metric is in the plan, without sentinels.
std::map<std::string, int> places(const MetricPlan& plan) {
  std::map<std::string, int> count;
  for (const MetricGroup& group : plan.groups)
    for (std::size_t i = kSentinelMetrics; i < group.metrics.size(); ++i) ++count[group.metrics[i]];
  for (const std::string& name : plan.absent) ++count[name];
  for (const ImpossibleMetric& metric : plan.impossible) ++count[metric.name];
  return count;
}

/// Without the parts that replace metrics of several passes.
std::set<std::string> requested_by(const char* set_name) {
  std::set<std::string> names;
  for (const std::string& metric : find_metric_set(set_name)->metrics) names.insert(metric);
  for (std::size_t i = 0; i < kSentinelMetrics; ++i) names.erase(kExact[i]);
  return names;
}

std::set<std::string> parts_in(const MetricPlan& plan) {
  std::set<std::string> parts;
  for (const ImpossibleMetric& metric : plan.impossible)
    for (const char* const part : metric_parts(metric.name)) parts.insert(part);
  return parts;
}

}  // namespace

TEST_CASE("each set takes the expected number of groups on each chip") {
  COUNTERS_OR_SKIP(cupti);
  CHECK(kExpected.size() == std::size(kChips) * sets_without_aliases().size());
  for (const Expected& expected : kExpected) {
    INFO(expected.set << " on " << expected.chip);
    const MetricPlan plan = plan_of(cupti, expected.chip, expected.set);

    CHECK(plan.error.empty());
    CHECK(plan.groups.size() == expected.groups);
    CHECK(plan.absent.size() == expected.absent);
    CHECK(plan.impossible.size() == expected.impossible);
  }
}

TEST_CASE("every group of every set takes one pass, begins with the sentinels and has units") {
  COUNTERS_OR_SKIP(cupti);
  for (const char* const chip : kChips) {
    const MetricPlan plan = plan_of(cupti, chip, kAllSets);
    for (const MetricGroup& group : plan.groups) {
      INFO(chip << ", " << group.name);
      MetricConfig config(cupti);

      REQUIRE(config.build(chip, {}, group.names()) == CUPTI_SUCCESS);
      CHECK(config.passes() == 1);
      REQUIRE(group.metrics.size() > kSentinelMetrics);
      CHECK(group.metrics[0] == kExactMetricNames[kEngineCycles]);
      CHECK(group.metrics[1] == kExactMetricNames[kEngineClock]);
      CHECK(group.units.size() == group.metrics.size());
      CHECK(group.units[1] == "sys_cycle/second");
    }
  }
}

TEST_CASE("each metric of a set is in one group, absent or impossible") {
  COUNTERS_OR_SKIP(cupti);
  for (const char* const chip : kChips) {
    for (const MetricSet& set : sets_without_aliases()) {
      INFO(set.name << " on " << chip);
      const MetricPlan plan = plan_of(cupti, chip, set.name);
      const std::set<std::string> parts = parts_in(plan);

      std::set<std::string> found;
      for (const auto& [name, count] : places(plan)) {
        INFO(name);
        CHECK(count == 1);
        if (parts.count(name) == 0) found.insert(name);
      }
      CHECK(found == requested_by(set.name));
    }
  }
}

TEST_CASE("metrics shared by sets are measured once, in the set that was named first") {
  COUNTERS_OR_SKIP(cupti);
  const MetricPlan plan = plan_of(cupti, "GH100", "memory,bytes,roofline");

  for (const auto& [name, count] : places(plan)) {
    INFO(name);
    CHECK(count == 1);
  }
  REQUIRE_FALSE(plan.groups.empty());
  CHECK(plan.groups[0].name == "memory");
  CHECK(Names(plan.groups[0].metrics.begin(), plan.groups[0].metrics.begin() + kExactMetrics) == kExact);
  CHECK(std::none_of(plan.groups.begin(), plan.groups.end(),
                     [](const MetricGroup& group) { return group.name == "bytes"; }));
}

TEST_CASE("the group of bytes is kExactMetricNames in that order") {
  COUNTERS_OR_SKIP(cupti);
  for (const char* const request : {"bytes", " bytes ,", "bytes,bytes", "bytes,memory"}) {
    INFO(request);
    const MetricPlan plan = plan_of(cupti, "GH100", request);

    REQUIRE_FALSE(plan.groups.empty());
    CHECK(plan.groups[0].name == "bytes");
    CHECK(plan.groups[0].metrics == kExact);
  }
}

TEST_CASE("metrics requested by name are planned in that order") {
  COUNTERS_OR_SKIP(cupti);
  const MetricPlan plan = plan_of(cupti, "GH100", "lts__t_sectors_op_read.sum, dram__bytes_read.sum");

  CHECK(plan.error.empty());
  REQUIRE(plan.groups.size() == 1);
  CHECK(plan.groups[0].name == "metrics");
  CHECK(plan.groups[0].metrics ==
        Names{kExact[0], kExact[1], "lts__t_sectors_op_read.sum", "dram__bytes_read.sum"});
}

TEST_CASE("metrics read from each multiprocessor never share a group with others") {
  COUNTERS_OR_SKIP(cupti);
  for (const char* const chip : kChips) {
    for (const char* const request : {kAllSets, "l1tex__t_sectors.sum,dram__bytes_read.sum"}) {
      for (const MetricGroup& group : plan_of(cupti, chip, request).groups) {
        INFO(chip << ", " << group.name);
        const auto expensive =
            std::count_if(group.metrics.begin() + kSentinelMetrics, group.metrics.end(),
                          [](const std::string& m) { return counts_every_multiprocessor(m); });
        CHECK((expensive == 0 ||
               static_cast<std::size_t>(expensive) == group.metrics.size() - kSentinelMetrics));
      }
    }
  }
}

TEST_CASE("an older name of a set stands for the sets of today") {
  COUNTERS_OR_SKIP(cupti);
  CHECK(planned_request(plan_of(cupti, "GH100", "compute")) ==
        planned_request(plan_of(cupti, "GH100", "occupancy,pipes")));
}

TEST_CASE("a plan as a request is planned the same again, group by group") {
  COUNTERS_OR_SKIP(cupti);
  for (const char* const request : {"bytes", "speed-of-light,stalls", "lts__t_sectors.sum"}) {
    INFO(request);
    const MetricPlan plan = plan_of(cupti, "GH100", request);

    const MetricPlan again = plan_of(cupti, "GH100", planned_request(plan));

    REQUIRE(again.groups.size() == plan.groups.size());
    for (std::size_t i = 0; i < plan.groups.size(); ++i) {
      CHECK(again.groups[i].name == plan.groups[i].name);
      CHECK(again.groups[i].metrics == plan.groups[i].metrics);
    }
  }
}

TEST_CASE("a cancelled planning does not ask CUPTI, and is an error") {
  COUNTERS_OR_SKIP(cupti);
  const std::atomic<bool> cancelled{true};

  const MetricPlan plan = plan_metrics(cupti, "GH100", {}, "all", &cancelled);

  CHECK_FALSE(plan.error.empty());
  CHECK(plan.groups.empty());
}

TEST_CASE("a metric that does not fit in one pass is impossible, with its passes, and others are planned") {
  COUNTERS_OR_SKIP(cupti);
  const MetricPlan plan =
      plan_of(cupti, "GH100", "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum,dram__bytes_read.sum");

  REQUIRE(plan.impossible.size() == 1);
  CHECK(plan.impossible[0].name == "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum");
  CHECK(plan.impossible[0].passes == 2);
  REQUIRE(plan.groups.size() == 1);
  CHECK(plan.groups[0].metrics.back() == "dram__bytes_read.sum");
}

TEST_CASE("a sum that takes two passes is replaced by its parts") {
  COUNTERS_OR_SKIP(cupti);
  const MetricPlan plan = plan_of(cupti, "GH100", "sm__ops_path_tensor_src_fp16.sum");
  const auto found = places(plan);

  REQUIRE(plan.impossible.size() == 1);
  for (const char* const part : metric_parts("sm__ops_path_tensor_src_fp16.sum")) {
    INFO(part);
    CHECK(found.count(part) == 1);
  }
  CHECK(found.size() == 1 + metric_parts("sm__ops_path_tensor_src_fp16.sum").size());
}

TEST_CASE("a metric that only other chips have is absent, not an error") {
  COUNTERS_OR_SKIP(cupti);
  for (const char* const metric :
       {"lts__t_sectors_aperture_peer_op_read.sum", "sm__ops_path_tensor_op_igmma_src_int8.sum"}) {
    INFO(metric);
    const MetricPlan plan = plan_of(cupti, "GB100", metric);

    CHECK(plan.error.empty());
    CHECK(plan.absent == Names{metric});
    CHECK(plan.groups.empty());
  }
}

TEST_CASE("an unknown chip is an error, but not of the request") {
  COUNTERS_OR_SKIP(cupti);
  const MetricPlan plan = plan_of(cupti, "GX999", "bytes");

  CHECK(plan.error.find("GX999") != std::string::npos);
  CHECK_FALSE(plan.wrong_name);
  CHECK(plan.groups.empty());
}

TEST_CASE("planning every set takes less time than a program takes to start") {
  COUNTERS_OR_SKIP(cupti);
  const std::clock_t begin = std::clock();  // time of the CPU: others may use the machine
  (void)plan_of(cupti, "GH100", kAllSets);

  // 0.26 s on an idle machine
  CHECK(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC < 5);
}
