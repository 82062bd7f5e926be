// SPDX-License-Identifier: Apache-2.0
//
// Formulas of named metrics over measured values: each form, missing inputs, turns.
#include "profiler/attribution/named_values.h"

#include <set>
#include <string>
#include <vector>

#include "profiler/metrics/metric_formula.h"
#include "tests/catch.h"

using namespace rangefinder;

namespace {

/// Two launches of one kernel, 1 ms each, per set; values by name.
class MeasuredSets {
 public:
  MeasuredSets& set(std::vector<std::string> names, const std::vector<double>& values) {
    const auto id = static_cast<std::uint32_t>(++sets_);
    groups_.add_set({id, "set", std::move(names)});
    for (int launch = 0; launch < 2; ++launch) {
      ExactRecord exact;
      exact.kind = WorkKind::kernel;
      exact.measured = true;
      exact.gpu_ns = 1'000'000;
      exact.metric_set = id;
      exact.values = values;
      if (!values.empty()) groups_.add(0, exact);
    }
    return *this;
  }
  [[nodiscard]] NamedValues values(std::uint64_t missing_sets = 0) const {
    return NamedValues(MetricsByName(groups_.metrics(1)[0], groups_), Derived{}, missing_sets);
  }

 private:
  MetricGroups groups_;
  std::size_t sets_ = 0;
};

std::string rate(const std::string& counter) {
  return counter + std::string(kPeakRate);
}

}  // namespace

TEST_CASE("a metric of one input is its mean") {
  const NamedValues values =
      MeasuredSets().set({"sm__warps_active.avg.pct_of_peak_sustained_active"}, {47.5}).values();

  REQUIRE(values.find("achieved_occupancy") != nullptr);
  CHECK(values.find("achieved_occupancy")->value == 47.5);
  CHECK(values.find("achieved_occupancy")->launches == 2);
  CHECK(values.find("ipc") == nullptr);
}

TEST_CASE("a ratio divides sums that were counted in different turns") {
  const NamedValues values = MeasuredSets()
                                 .set({"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"}, {3200})
                                 .set({"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"}, {100})
                                 .values();

  CHECK(values.value("store_sectors_per_request") == 32);
  CHECK(values.value("store_bytes_used") == 12.5);
}

TEST_CASE("no requests are no sectors per request, and percents end at 100") {
  const NamedValues none = MeasuredSets()
                               .set({"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                                     "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
                                    {0, 0})
                               .values();
  const NamedValues halves = MeasuredSets()
                                 .set({"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                                       "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
                                      {200, 100})
                                 .values();

  CHECK(none.find("store_sectors_per_request") == nullptr);
  CHECK(halves.value("store_bytes_used") == 100);  // words of 2 bytes: 2 sectors a request
}

TEST_CASE("a sum is the total of all launches") {
  const NamedValues values = MeasuredSets()
                                 .set({"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
                                       "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"},
                                      {10, 5})
                                 .values();

  CHECK(values.value("local_bytes") == 2 * 15 * 32);
}

TEST_CASE("a throughput is the busiest part over the GPU time, and names it") {
  // 1 ms at 2e9 sectors/s is 2e6 sectors.
  std::vector<std::string> names{"dram__bytes.sum", rate("dram__bytes")};
  std::vector<double> counts{1e9, 2e12};
  for (const char* const part :
       {"lts__t_sectors", "lts__t_tag_requests", "lts__d_sectors", "lts__xbar2lts_cycles_active"}) {
    names.push_back(std::string(part) + ".sum");
    names.push_back(rate(part));
    counts.push_back(part == std::string("lts__t_tag_requests") ? 1.5e6 : 1e6);
    counts.push_back(2e9);
  }
  const NamedValues values = MeasuredSets().set(names, counts).values();

  REQUIRE(values.find("l2_throughput") != nullptr);
  CHECK(values.find("l2_throughput")->value == Approx(75));
  CHECK(values.find("l2_throughput")->part->title == std::string("L2 tag lookups"));
  CHECK(values.value("dram_throughput") == Approx(50));
  CHECK(values.find("memory_throughput") == nullptr);  // the parts of L1 were not measured
}

TEST_CASE("a part that the chip lacks is left away, one that was planned and not measured is not") {
  std::vector<std::string> names;
  std::vector<double> counts;
  for (const char* const part :
       {"lts__t_sectors", "lts__t_tag_requests", "lts__d_sectors", "lts__xbar2lts_cycles_active"}) {
    names.push_back(std::string(part) + ".sum");
    names.push_back(rate(part));
    counts.push_back(1e6);
    counts.push_back(2e9);
  }
  const std::vector<std::string> later{"lts__lts2xbar_cycles_active.sum",
                                       rate("lts__lts2xbar_cycles_active")};

  CHECK(MeasuredSets().set(names, counts).values().value("l2_throughput") == Approx(50));
  CHECK(MeasuredSets().set(names, counts).set(later, {}).values().find("l2_throughput") == nullptr);
}

TEST_CASE("stalls are shares of all warp cycles, largest first, and need every reason") {
  std::vector<std::string> names;
  std::vector<double> cycles;
  for (const std::string& name : collected_for(*find_named_metric("stall_barrier"))) {
    names.push_back(name);
    cycles.push_back(name.find("long_scoreboard") != std::string::npos ? 60
                     : name.find("_selected") != std::string::npos     ? 10
                                                                       : 0);
  }
  const std::vector<NamedValue> stalls = MeasuredSets().set(names, cycles).values().stalls();
  const std::vector<std::string> all_but_one(names.begin(), names.end() - 1);
  const std::vector<double> their_cycles(cycles.begin(), cycles.end() - 1);

  REQUIRE(stalls.size() == 18);  // without stall_selected
  CHECK(stalls[0].metric->name == std::string("stall_long_scoreboard"));
  CHECK(stalls[0].value == Approx(75));
  CHECK(MeasuredSets().set(all_but_one, their_cycles).values().stalls().empty());
}

TEST_CASE("values of a set that measured only some kernels of the row are not used") {
  const MeasuredSets measured =
      MeasuredSets().set({"sm__warps_active.avg.pct_of_peak_sustained_active"}, {47.5});

  CHECK(measured.values(1).empty());
  CHECK_FALSE(measured.values(2).empty());
}

TEST_CASE("names are unique, and formulas name all inputs") {
  std::set<std::string> names;
  for (const NamedMetric& metric : named_metrics()) {
    INFO(metric.name);
    CHECK(names.insert(metric.name).second);
    CHECK(find_named_metric(metric.name) == &metric);
    CHECK_FALSE(formula_text(metric).empty());
    if (metric.form == MetricForm::flop) continue;
    for (const MetricInput& input : metric.inputs) {
      CHECK(formula_text(metric).find(input.name) != std::string::npos);
    }
  }
}
