// SPDX-License-Identifier: Apache-2.0
//
// Metric sets that take turns: means, spreads, and when there are estimates.
#include "profiler/attribution/metric_groups.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/attribution/totals_records.h"

using namespace rangefinder;
using namespace rangefinder::totals_records;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <typename... Records>
TotalsBuilder tree_with_sets(const Records&... records) {
  return tree(MetricSetRecord{1, "bytes", {}},
              MetricSetRecord{2, "stalls", {"smsp__waits.sum", "sm__busy.avg.pct"}}, records...);
}

ExactRecord with_bytes(std::uint32_t path, std::uint64_t gpu_ns, std::uint64_t read_bytes) {
  ExactRecord record = exact(path, WorkKind::kernel, gpu_ns, read_bytes);
  record.metric_set = 1;
  return record;
}

MetricValue metric_of(const TotalsBuilder& totals, std::uint32_t path, std::uint32_t metric) {
  const auto metrics = totals.path_metrics();
  for (const MetricValue& value : metrics.at(path)) {
    if (value.metric == metric) return value;
  }
  FAIL("no such metric");
  return {};
}

}  // namespace

TEST_CASE("mean and spread are correct, added one by one or merged") {
  std::mt19937_64 random(5);
  std::normal_distribution<double> values(1e9, 1e3);
  Spread all, left, right;
  double sum = 0;
  std::vector<double> seen;
  for (int i = 0; i < 1000; ++i) {
    seen.push_back(values(random));
    sum += seen.back();
    all.add(seen.back());
    (i < 300 ? left : right).add(seen.back());
  }
  double squares = 0;
  for (const double value : seen) squares += (value - sum / 1000) * (value - sum / 1000);
  left.add(right);
  left.add(Spread{});

  CHECK(all.mean == Approx(sum / 1000));
  CHECK(all.deviation() == Approx(std::sqrt(squares / 999)).epsilon(1e-6));
  CHECK(left.n == 1000);
  CHECK(left.mean == Approx(all.mean));
  CHECK(left.deviation() == Approx(all.deviation()).epsilon(1e-6));
  CHECK(Spread{}.deviation() == 0);
}

TEST_CASE("with a single metric set there is no estimate, whatever the set") {
  const TotalsBuilder totals = tree_with_sets(with_bytes(2, 100, 10), with_bytes(2, 110, 30));

  CHECK_FALSE(totals.groups().rotating());
  CHECK_FALSE(row_of(totals, 1).has_estimate);
  CHECK(row_of(totals, 1).missing_sets == 0);
  CHECK(row_of(totals, 1).counters.dram_read_bytes == 40);
}

TEST_CASE("if sets take turns, a group's mean is used for its launches without bytes") {
  TotalsBuilder totals = tree_with_sets();
  for (int i = 0; i < 2; ++i) {
    totals.add(with_bytes(2, 100, i == 0 ? 10 : 30));
    totals.add(with_values(2, 102, {5, 50}));
    totals.add(with_bytes(3, 50, 1));
    totals.add(with_values(3, 50, {7, 80}));
  }

  const PathTotals encoder = row_of(totals, 2);
  REQUIRE(encoder.has_estimate);
  CHECK(encoder.counters.dram_read_bytes == 40);  // of the measured launches
  CHECK(encoder.launches_without_bytes() == 2);
  CHECK(encoder.estimate.read == Approx(80));
  CHECK(encoder.estimate.write == Approx(160));
  CHECK(encoder.estimate.l2 == Approx(240));
  // Four launches, two measured, variance 200: 4^2 * 200 / 2 * (1 - 2/4), and half of Student's t squared.
  CHECK(encoder.estimate.read_variance == Approx(800 * 6.35 * 6.35));
  const PathTotals model = row_of(totals, 1);
  REQUIRE(model.has_estimate);
  CHECK(model.estimate.read == Approx(84));
  CHECK(model.estimate.read_variance == Approx(800 * 6.35 * 6.35));
  CHECK(model.counters.gpu_ns == 2 * (100 + 102 + 50 + 50));
  CHECK_FALSE(model.unstable);
  CHECK(model.missing_sets == 0);
}

TEST_CASE("the error of a group measured once is its whole value") {
  const PathTotals row = row_of(tree_with_sets(with_bytes(2, 100, 10), with_values(2, 100, {5, 50})), 2);

  CHECK(row.estimate.read == Approx(20));
  CHECK(row.estimate.read_variance == Approx(4 * 100 * 0.5));
}

TEST_CASE(
    "a group never measured with bytes makes the estimates of all ancestors lower bounds, and its set is "
    "missing") {
  TotalsBuilder totals =
      tree_with_sets(with_bytes(2, 100, 10), with_values(2, 100, {5, 50}), with_values(3, 100, {5, 50}));
  ExactRecord other_shape = with_values(2, 100, {5, 50});

  CHECK_FALSE(row_of(totals, 3).estimate.complete);
  CHECK(row_of(totals, 3).missing_sets == 1);  // the first set, "bytes"
  CHECK_FALSE(row_of(totals, 1).estimate.complete);
  CHECK(row_of(totals, 1).estimate.read == row_of(totals, 2).estimate.read);
  CHECK(row_of(totals, 1).missing_sets == 1);
  CHECK(row_of(totals, 2).estimate.complete);

  other_shape.grid = {9, 1, 1};  // another group of the same kernel
  totals.add(other_shape);
  CHECK_FALSE(row_of(totals, 2).estimate.complete);
}

TEST_CASE("records of measured launches do not change the estimate") {
  const TotalsBuilder totals =
      tree_with_sets(launched(with_bytes(2, 100, 10), 1), launched(with_values(2, 100, {5, 50}), 2),
                     launched(kernel(2, 0, 10), 1), launched(kernel(2, 20, 30), 2));

  REQUIRE(row_of(totals, 2).has_estimate);
  CHECK(row_of(totals, 2).estimate.read == Approx(20));
}

TEST_CASE("a kernel's bytes are estimated like those of its paths, over all of them") {
  TotalsBuilder totals = tree_with_sets();
  std::uint32_t launch = 0;
  const auto run = [&](ExactRecord exact, std::uint32_t name) {
    exact.name = name;
    totals.add(launched(exact, ++launch));
    totals.add(launched(kernel(exact.launch.host.path, launch, launch + 1, name), launch));
  };
  for (int i = 0; i < 2; ++i) {
    run(with_bytes(2, 100, i == 0 ? 10 : 30), 1);
    run(with_values(2, 100, {5, 50}), 1);
    run(with_bytes(3, 50, 1), 1);
    run(with_values(3, 50, {7, 80}), 1);
    run(with_bytes(3, 50, 4), 2);
  }
  const auto totals_of = [&](std::uint32_t name) {
    for (const KernelTotals& kernel : totals.kernels()) {
      if (kernel.name == name) return kernel;
    }
    return KernelTotals();
  };

  REQUIRE(totals_of(1).estimate);
  CHECK(totals_of(1).counters.dram_read_bytes == 42);
  CHECK(totals_of(1).estimate->complete);
  CHECK(totals_of(1).estimate->read == Approx(84));
  CHECK(totals_of(1).estimate->read + 8 == Approx(row_of(totals, 1).estimate.read));
  CHECK(totals_of(1).estimate->read_variance == Approx(row_of(totals, 2).estimate.read_variance));
  CHECK_FALSE(totals_of(2).estimate);  // all its launches have bytes

  totals.add(kernel(2, 90, 91, 1));  // outside of exact windows
  CHECK_FALSE(totals_of(1).estimate->complete);
}

TEST_CASE("with kernels outside exact windows the estimate is a lower bound: they are in no group") {
  const TotalsBuilder totals =
      tree_with_sets(with_bytes(2, 100, 10), with_values(2, 100, {5, 50}), kernel(2, 0, 10));

  CHECK(row_of(totals, 2).has_estimate);
  CHECK_FALSE(row_of(totals, 2).estimate.complete);
}

TEST_CASE("a path whose GPU time differs by more than a tenth between sets is unstable") {
  const TotalsBuilder totals = tree_with_sets(with_bytes(2, 100, 10), with_values(2, 109, {5, 50}),
                                              with_bytes(3, 100, 10), with_values(3, 112, {5, 50}));

  CHECK_FALSE(row_of(totals, 2).unstable);
  CHECK(row_of(totals, 3).unstable);
  CHECK(row_of(totals, 1).unstable == (109 + 112 > 220));
}

TEST_CASE("metrics that add up are estimated for all launches, others are averaged by GPU time") {
  const TotalsBuilder totals =
      tree_with_sets(with_values(2, 100, {4, 50}), with_values(2, 100, {6, 70}), with_bytes(2, 100, 10),
                     with_values(3, 300, {100, 10}), with_values(3, 300, {100, kNan}));

  const MetricValue waits = metric_of(totals, 2, 0);
  CHECK(waits.launches.n == 2);
  CHECK(waits.launches.mean == Approx(5));
  CHECK(waits.value == Approx(15));
  CHECK(waits.gpu_ns == Approx(300));
  CHECK(metric_of(totals, 2, 1).value == Approx(60));
  CHECK(metric_of(totals, 3, 1).launches.n == 1);  // NaN is no measurement
  CHECK(metric_of(totals, 1, 0).value == Approx(215));
  CHECK(metric_of(totals, 1, 0).launches.n == 4);
  CHECK(metric_of(totals, 1, 1).value == Approx((60 * 300 + 10 * 600) / 900.0));
}

TEST_CASE("the counter ranges of a path are one group") {
  TotalsBuilder totals = tree_with_sets();
  for (std::uint64_t number = 1; number <= 4; ++number) {
    totals.add(sharing(2, WorkKind::kernel, number));
    ExactRecord of_range = counter_range(2, number, 1, 1, 100, 8);
    of_range.metric_set = number % 2 == 0 ? 1 : 2;
    of_range.has_bytes = number % 2 == 0;
    of_range.values = of_range.has_bytes ? std::vector<double>{} : std::vector<double>{1, 2};
    totals.add(of_range);
  }

  REQUIRE(row_of(totals, 2).has_estimate);
  CHECK(row_of(totals, 2).estimate.read == Approx(32));
  CHECK(row_of(totals, 2).launches_without_bytes() == 2);
  CHECK(metric_of(totals, 2, 0).value == Approx(4));
}

TEST_CASE("groups beyond the limit are counted, and their paths have no estimate") {
  MetricGroups groups;
  groups.add_set({2, "stalls", {"smsp__waits.sum"}});
  ExactRecord record = with_values(2, 100, {1});
  for (std::uint32_t name = 0; name < MetricGroups::kMaxGroups + 10; ++name) {
    record.name = name;
    record.metric_set = name % 2 == 0 ? 1 : 2;
    record.has_bytes = record.metric_set == 1;
    groups.add(name == 0 ? 1 : 2, record);
  }

  CHECK(groups.folded() == 10);
  CHECK(groups.estimates(3)[1].complete);
  CHECK_FALSE(groups.estimates(3)[2].complete);
}

TEST_CASE("values without a metric in their set are dropped, and an undeclared set has none") {
  MetricGroups groups;
  groups.add_set({2, "stalls", {"smsp__waits.sum"}});
  groups.add(0, with_values(0, 100, {1, 2, 3}));
  ExactRecord unknown = with_values(0, 100, {1, 2, 3});
  unknown.metric_set = 5;
  groups.add(0, unknown);

  REQUIRE(groups.metrics(1)[0].size() == 1);
  CHECK(groups.metric_name(groups.metrics(1)[0][0]) == "smsp__waits.sum");
}
