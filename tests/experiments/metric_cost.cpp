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

#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "profiler/counters/metrics/metric_plan.h"
#include "profiler/counters/metrics/metric_sets.h"
#include "tests/experiments/bench_cupti.h"
#include "tests/experiments/counter_ranges.h"
#include "tests/experiments/exact_time_kernels.h"

namespace {

using namespace rangefinder::bench;
using rangefinder::CuptiLibrary;
using rangefinder::MetricGroup;
using rangefinder::MetricPlan;

constexpr int kRanges = 512;
constexpr int kBatches = 3;

double ms_of(const std::function<void()>& step) {
  const auto begin = std::chrono::steady_clock::now();
  step();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

std::string chip_of_gpu(const CuptiLibrary& library) {
  CUpti_Profiler_Initialize_Params init{CUpti_Profiler_Initialize_Params_STRUCT_SIZE, nullptr};
  check(library.functions.ProfilerInitialize(&init), "cuptiProfilerInitialize");
  CUpti_Device_GetChipName_Params chip{CUpti_Device_GetChipName_Params_STRUCT_SIZE, nullptr, 0, nullptr};
  check(library.functions.DeviceGetChipName(&chip), "cuptiDeviceGetChipName");
  return chip.pChipName;
}

void print_cost(const CuptiLibrary& library, const MetricGroup& group, const std::function<void()>& work) {
  CounterRanges ranges(library, group.names(), kRanges);
  ranges.reset();
  ranges.configure();
  const double first_ms = ms_of([&] { ranges.start(); });
  std::vector<double> range_us, batch_ms;
  std::vector<double> values(group.metrics.size());
  for (int batch = 0; batch < kBatches; ++batch) {
    const double ranges_ms = ms_of([&] {
      for (int i = 0; i < kRanges; ++i) ranges.range(i, work);
      check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    });
    range_us.push_back(ranges_ms * 1e3 / kRanges);
    batch_ms.push_back(ms_of([&] {
      ranges.stop();
      ranges.decode();
      for (std::size_t i = 0; i < kRanges; ++i) ranges.evaluate(i, values);
      ranges.reset();
      ranges.start();
    }));
  }
  ranges.stop();
  std::printf("%-15s %7zu %9.0f %9.1f %9.1f %9.1f\n", group.name.c_str(), group.metrics.size(), first_ms,
              median(range_us), median(batch_ms), median(range_us) + median(batch_ms) * 1e3 / kRanges);
  std::fflush(stdout);
}

MetricPlan plan(const CuptiLibrary& library, const std::string& chip, const std::string& request) {
  MetricPlan made;
  std::vector<double> times_ms;
  for (int i = 0; i < 5; ++i)
    times_ms.push_back(
        ms_of([&] { made = rangefinder::plan_metrics(library.functions, chip, {}, request); }));
  if (!made.error.empty()) {
    std::fprintf(stderr, "metric_cost: %s\n", made.error.c_str());
    std::exit(2);
  }
  std::printf("# %s: planned in %.0f ms: %zu groups, %zu metrics absent, %zu impossible in one pass\n",
              request.c_str(), median(times_ms), made.groups.size(), made.absent.size(),
              made.impossible.size());
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  check(cudaFree(nullptr), "metric_cost: no GPU");
  const CuptiLibrary& library = cupti_or_exit();
  rangefinder::preload_counter_library(library);
  const std::string chip = chip_of_gpu(library);
  std::vector<std::string> requests(argv + 1, argv + argc);
  std::string all;
  if (requests.empty()) {
    for (const rangefinder::MetricSet& set : rangefinder::metric_sets()) {
      requests.emplace_back(set.name);
      all += (all.empty() ? "" : ",") + requests.back();
    }
  }
  unsigned long long* span = nullptr;
  check(cudaMalloc(&span, 2 * sizeof(*span)), "cudaMalloc");
  std::printf("%s, batches of %d ranges\n%-15s %7s %9s %9s %9s %9s\n", chip.c_str(), kRanges, "group",
              "metrics", "start ms", "range us", "batch ms", "us/range");
  if (!all.empty()) (void)plan(library, chip, all);
  for (const std::string& request : requests)
    for (const MetricGroup& group : plan(library, chip, request).groups)
      print_cost(library, group, [&] { launch_spin(132, 0, span, nullptr); });
  return 0;
}
