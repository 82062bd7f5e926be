// SPDX-License-Identifier: Apache-2.0
//
// Cost of a counter range with each group of each set of metrics, around an empty kernel.
//
// Measures a group's first start, which waits for the GPU to be set up. Then kBatches batches of kRanges
// ranges: the range itself, and what a batch adds (stop, decode, evaluate, restart) per range. Counters of
// every multiprocessor are expensive in both. Also the time in which the host plans each request, and all
// sets at once.
//
//   metric_cost [REQUEST ...]   sets or metrics as for --metrics [every set]; needs a GPU and
//                               permission to read its counters
#include <cstdio>
#include <string>
#include <vector>

#include "profiler/counters/metrics/metric_plan.h"
#include "profiler/counters/metrics/metric_sets.h"
#include "tests/experiments/counter_ranges.h"
#include "tests/experiments/exact_time_kernels.h"

namespace {

using namespace rangefinder::bench;
using rangefinder::CuptiLibrary;
using rangefinder::MetricGroup;
using rangefinder::MetricPlan;

constexpr int kRanges = 512;
constexpr int kBatches = 3;

void print_cost(const CuptiLibrary& library, const MetricGroup& group, unsigned long long* span) {
  CounterRanges ranges(library, group.names(), kRanges);
  const BatchCosts costs = ranges.measure_batches(kBatches, [&] { launch_spin(132, 0, span, nullptr); });
  std::vector<double> batch_ms;
  for (std::size_t i = 0; i < kBatches; ++i)
    batch_ms.push_back(costs.stop_ms[i] + costs.decode_ms[i] + costs.evaluate_ms[i] + costs.restart_ms[i]);
  const double range_us = median(costs.range_us);
  std::printf("%-15s %7zu %9.0f %9.1f %9.1f %9.1f\n", group.name.c_str(), group.metrics.size(),
              costs.first_ms, range_us, median(batch_ms), range_us + median(batch_ms) * 1e3 / kRanges);
  std::fflush(stdout);
}

MetricPlan plan(const CuptiLibrary& library, const std::string& chip, const std::string& request) {
  MetricPlan made;
  std::vector<double> times_ms;
  for (int i = 0; i < 5; ++i)
    times_ms.push_back(
        ms_of([&] { made = rangefinder::plan_metrics(library.functions, chip, {}, request); }));
  if (!made.error.empty()) fail(made.error);
  std::printf("# %s: planned in %.0f ms: %zu groups, %zu metrics absent, %zu impossible in one pass\n",
              request.c_str(), median(times_ms), made.groups.size(), made.absent.size(),
              made.impossible.size());
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  const CuptiLibrary& library = counters_or_exit();
  const std::string chip = chip_name(library.functions);
  std::vector<std::string> requests(argv + 1, argv + argc);
  std::string all;
  if (requests.empty()) {
    for (const rangefinder::MetricSet& set : rangefinder::metric_sets()) {
      requests.emplace_back(set.name);
      all += (all.empty() ? "" : ",") + requests.back();
    }
  }
  unsigned long long* const span = make_span();
  std::printf("%s, batches of %d ranges\n%-15s %7s %9s %9s %9s %9s\n", chip.c_str(), kRanges, "group",
              "metrics", "start ms", "range us", "batch ms", "us/range");
  if (!all.empty()) (void)plan(library, chip, all);
  for (const std::string& request : requests)
    for (const MetricGroup& group : plan(library, chip, request).groups) print_cost(library, group, span);
  return 0;
}
