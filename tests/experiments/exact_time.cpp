// SPDX-License-Identifier: Apache-2.0
//
// Which counter gives the GPU time of one launch inside a user range?
//
// A range is open from before the host's call until the GPU has drained. So a counter of elapsed time also
// counts what the host did in between. Each case below runs plain, timed by the kernel's own clock
// (%globaltimer, first block in, last block out). It then runs in its own range, also with the host asleep
// for 1 ms between the push and the launch. First table: medians of kRepeats, microseconds; the empty range
// shows what the range itself adds. Second table: the cost of sets of counters at batches of kBatch ranges;
// counters of every multiprocessor make start and decoding expensive.
//
//   exact_time            needs a GPU and permission to read its counters
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "tests/experiments/counter_ranges.h"
#include "tests/experiments/exact_time_kernels.h"

namespace {

using namespace rangefinder::bench;
using rangefinder::CuptiLibrary;
using rangefinder::probe::check;

constexpr int kRepeats = 15;
constexpr int kBatch = 512;
constexpr std::size_t kBytes = std::size_t{1} << 30;
const Metrics kCandidates = {
    "gpu__time_duration.sum", "gr__cycles_active.sum",  "sys__cycles_elapsed.avg.per_second",
    "sm__cycles_active.max",  "gpc__cycles_active.max", "sm__cycles_elapsed.avg.per_second",
};
const Metrics kByteCounters = {"dram__bytes_read.sum", "dram__bytes_write.sum", "lts__t_bytes.sum"};
const std::vector<Metrics> kSets = {
    {},
    {"gpu__time_duration.sum"},
    {"gr__cycles_active.sum"},
    {"gr__cycles_active.sum", "sys__cycles_elapsed.avg.per_second"},
    {"gr__cycles_active.sum", "gr__cycles_elapsed.sum", "gpu__time_duration.sum"},
    {"gpc__cycles_active.max", "gpc__cycles_elapsed.avg.per_second"},
    {"sm__cycles_active.max", "sm__cycles_elapsed.avg.per_second"},
};

struct Case {
  std::string name;
  std::function<void()> work;
  bool timed_inside;  ///< writes `span`
};

void print_row(const char* name, double true_us, const std::vector<double>& v) {
  const double sys_us = 1e6 / v[2], sm_us = 1e6 / v[5];
  std::printf("%-28s %10.2f %14.2f %10.2f %10.2f %10.2f\n", name, true_us, v[0] / 1e3, v[1] * sys_us,
              v[4] * sm_us, v[3] * sm_us);
}

/// Prints the cost of one set of counters at full batches: ms, and us per launch in total.
void print_cost(const CuptiLibrary& library, const Metrics& set, const std::function<void()>& work) {
  Metrics metrics = set;
  metrics.insert(metrics.end(), kByteCounters.begin(), kByteCounters.end());
  CounterRanges ranges(library, metrics, kBatch);
  const BatchCosts costs = ranges.measure_batches(5, work);
  const double range_us = median(costs.range_us), stop_ms = median(costs.stop_ms),
               decode_ms = median(costs.decode_ms), evaluate_ms = median(costs.evaluate_ms),
               restart_ms = median(costs.restart_ms);
  std::string names;
  for (const char* const name : set) names += std::string(names.empty() ? "" : " + ") + name;
  std::printf("%-76s %6zu %8.0f %8.1f %8.1f %8.1f %9.1f %9.1f %9.1f\n",
              names.empty() ? "(bytes only)" : names.c_str(), ranges.passes(), costs.first_ms, range_us,
              stop_ms, decode_ms, evaluate_ms, restart_ms,
              range_us + (stop_ms + decode_ms + evaluate_ms + restart_ms) * 1e3 / kBatch);
}

/// Device memory and the graph that the cases use.
struct Work {
  unsigned long long* span = nullptr;
  void *a = nullptr, *b = nullptr;
  cudaGraphExec_t graph = nullptr;
};

Work make_work() {
  Work work;
  work.span = make_span();
  check(cudaMalloc(&work.a, kBytes), "cudaMalloc");
  check(cudaMalloc(&work.b, kBytes), "cudaMalloc");
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");
  work.graph = captured(stream, [&] {
    for (int i = 0; i < 20; ++i) launch_spin(132, 10'000, work.span, stream);
  });
  return work;
}

std::vector<Case> make_cases(const Work& w) {
  constexpr std::size_t kSmall = std::size_t{1} << 20;
  return {
      {"nothing", [] {}, false},
      {"empty kernel", [w] { launch_spin(132, 0, w.span, nullptr); }, true},
      {"spin 2,000 clocks", [w] { launch_spin(132, 2'000, w.span, nullptr); }, true},
      {"spin 20,000 clocks", [w] { launch_spin(132, 20'000, w.span, nullptr); }, true},
      {"spin 200,000, one block", [w] { launch_spin(1, 200'000, w.span, nullptr); }, true},
      {"copy kernel 1 MiB", [w] { launch_copy(528, 256, w.a, w.b, kSmall, w.span); }, true},
      {"copy kernel 1 GiB", [w] { launch_copy(1056, 512, w.a, w.b, kBytes, w.span); }, true},
      {"graph of 20 spins", [w] { cudaGraphLaunch(w.graph, nullptr); }, true},
      {"memcpy DtoD 1 MiB", [w] { cudaMemcpyAsync(w.b, w.a, kSmall, cudaMemcpyDeviceToDevice); }, false},
      {"memcpy DtoD 1 GiB", [w] { cudaMemcpyAsync(w.b, w.a, kBytes, cudaMemcpyDeviceToDevice); }, false},
      {"memset 1 GiB", [w] { cudaMemsetAsync(w.b, 1, kBytes); }, false},
  };
}

/// Median time of a case without counters in us: by the kernel's clock, else by events.
double true_time_us(const Case& c, const Work& work) {
  std::vector<double> times;
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  for (int i = 0; i < kRepeats; ++i) {
    unsigned long long span[2] = {~0ull, 0};
    check(cudaMemcpy(work.span, span, sizeof(span), cudaMemcpyHostToDevice), "cudaMemcpy");
    cudaEventRecord(begin);
    c.work();
    cudaEventRecord(end);
    check(cudaDeviceSynchronize(), c.name.c_str());
    check(cudaMemcpy(span, work.span, sizeof(span), cudaMemcpyDeviceToHost), "cudaMemcpy");
    float event_ms = 0;
    check(cudaEventElapsedTime(&event_ms, begin, end), "cudaEventElapsedTime");
    times.push_back(c.timed_inside ? static_cast<double>(span[1] - span[0]) / 1e3 : double{event_ms} * 1e3);
  }
  return median(times);
}

void print_times(const CuptiLibrary& library, const Work& work) {
  const std::vector<Case> cases = make_cases(work);
  std::vector<double> truth;
  for (const Case& c : cases) truth.push_back(true_time_us(c, work));
  std::printf("%-28s %10s %14s %10s %10s %10s\n", "us", "truth", "time_duration", "gr active", "gpc active",
              "sm active");
  CounterRanges ranges(library, kCandidates, kRepeats);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    print_row(cases[i].name.c_str(), truth[i], ranges.measure(kRepeats, cases[i].work));
    print_row("  host asleep 1 ms", truth[i], ranges.measure(kRepeats, [&] {
      usleep(1000);
      cases[i].work();
    }));
  }
}

}  // namespace

int main() {
  const CuptiLibrary& library = counters_or_exit();
  const Work work = make_work();
  print_times(library, work);
  std::printf("\n%-76s %6s %8s %8s %8s %8s %9s %9s %9s\n", "counters beside DRAM read, write and L2 bytes",
              "passes", "start ms", "range us", "stop ms", "decode", "evaluate", "restart", "us/launch");
  for (const Metrics& set : kSets) print_cost(library, set, [&] { launch_spin(132, 0, work.span, nullptr); });
  return 0;
}
