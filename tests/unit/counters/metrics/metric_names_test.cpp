// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/metrics/metric_names.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "profiler/base/edit_distance.h"
#include "profiler/counters/metrics/metric_plan.h"
#include "profiler/counters/metrics/metric_sets.h"
#include "profiler/metrics/named_metrics.h"
#include "profiler/options/option_table.h"
#include "profiler/options/options.h"
#include "tests/catch.h"
#include "tests/unit/counters/counters_loaded.h"

using namespace rangefinder;

namespace {

struct Mistyped {
  const char* request;
  const char* nearest;  ///< the error must contain this
};
constexpr Mistyped kMistyped[] = {
    {"byts", "the set bytes"},
    {"bytes,memry", "the set memory"},
    {"rooflines", "the set roofline"},
    {"dram_bytes_read.sum", "dram__bytes_read.sum"},
    {"dram__byte_read.sum", "dram__bytes_read.sum"},
    {"lts__t_sector_op_read.avg", "lts__t_sectors_op_read.avg"},
    {"dram__bytes_read", "needs a suffix, as in dram__bytes_read.sum"},
    {"dram__bytes_read.summ", ".sum"},
    {"smsp__warps_issue_stalled_wait.ratio", "has no .ratio"},
    {"nonsense", "bytes, speed-of-light"},
};

}  // namespace

TEST_CASE("the help of --metrics names all sets") {
  const auto row = std::find_if(std::begin(kOptions), std::end(kOptions), [](const OptionRow& option) {
    return std::string_view(option.variable) == "RANGEFINDER_METRICS";
  });
  REQUIRE(row != std::end(kOptions));
  CHECK(help_text(*row).find("(" + metric_set_names() + ")") != std::string::npos);
}

TEST_CASE("the base of a metric ends at its suffix, even if the base has dots") {
  CHECK(base_of("dram__bytes_read.sum") == "dram__bytes_read");
  CHECK(base_of("lts__t_bytes.sum.pct_of_peak_sustained_elapsed") == "lts__t_bytes");
  CHECK(base_of("TPC.TriageCompute.sm__inst_executed_realtime.sum") ==
        "TPC.TriageCompute.sm__inst_executed_realtime");
  CHECK(base_of("dram__bytes_read") == "dram__bytes_read");
  CHECK(base_of("bytes.sum") == "bytes");
  CHECK(base_of("").empty());
}

TEST_CASE("edit distance counts characters inserted, removed and replaced") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("bytes", "") == 5);
  CHECK(edit_distance("byts", "bytes") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("an unknown name is an error that suggests the nearest one, and nothing is planned") {
  COUNTERS_OR_SKIP(cupti);
  for (const Mistyped& mistyped : kMistyped) {
    const MetricPlan plan = plan_metrics(cupti, "GH100", {}, mistyped.request);
    INFO(mistyped.request << ": " << plan.error);

    CHECK(plan.wrong_name);
    CHECK(plan.error.find(mistyped.nearest) != std::string::npos);
    CHECK(plan.groups.empty());
  }
}

TEST_CASE("a request without a name is an error that lists the sets") {
  COUNTERS_OR_SKIP(cupti);
  for (const char* const request : {"", ",", "  , "}) {
    const MetricPlan plan = plan_metrics(cupti, "GH100", {}, request);

    CHECK(plan.wrong_name);
    CHECK(plan.error.find(metric_set_names()) != std::string::npos);
  }
}

TEST_CASE("set names are unique, and no set has a metric twice") {
  std::set<std::string> names;
  for (const MetricSet& set : metric_sets()) {
    INFO(set.name);
    CHECK(names.insert(set.name).second);
    CHECK(find_metric_set(set.name) == &set);
    const std::set<std::string> metrics(set.metrics.begin(), set.metrics.end());
    CHECK(metrics.size() == set.metrics.size());
  }
  CHECK(find_metric_set("byte") == nullptr);
  CHECK(metric_set_names() == "bytes, speed-of-light, memory, occupancy, stalls, pipes, roofline, all");
}

TEST_CASE("sums of counters add up over launches, percents and ratios do not") {
  CHECK(metric_adds_up("dram__bytes_read.sum"));
  CHECK_FALSE(metric_adds_up("lts__t_bytes.sum.pct_of_peak_sustained_elapsed"));
  CHECK_FALSE(metric_adds_up("smsp__thread_inst_executed_per_inst_executed.ratio"));
  CHECK_FALSE(metric_adds_up("sm__warps_active.avg.pct_of_peak_sustained_active"));
}
