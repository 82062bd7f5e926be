// SPDX-License-Identifier: Apache-2.0
//
// May a counter session change its metrics, and what does that cost?
//
// Bytes, then metrics of the multiprocessors, then bytes again, in one session of the Range Profiler: once
// with a new configuration only, once by ending the session and beginning another. Per step: the time of the
// start, and how many of the metrics have a value.
//
//   metric_switch [RANGES]     ranges per batch [128]; needs a GPU and permission to read its counters
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/experiments/counter_ranges.h"
#include "tests/experiments/exact_time_kernels.h"

namespace {

using namespace rangefinder::bench;

constexpr int kUsed = 32;

struct Step {
  const char* name;
  Metrics metrics;
};

void print_step(CounterRanges& ranges, const Step& step, double ended_ms, unsigned long long* span) {
  ranges.reset();
  const double configured_ms = ms_of([&] { ranges.configure(); });
  const double started_ms = ms_of([&] { ranges.start(); });
  for (int i = 0; i < kUsed; ++i) ranges.range(i, [&] { launch_spin(132, 2000, span, nullptr); });
  const double stopped_ms = ms_of([&] { ranges.stop(); });
  ranges.decode();
  std::size_t least = step.metrics.size();
  for (std::size_t i = 0; i < kUsed; ++i) least = std::min(least, ranges.delivered(i));
  std::printf("  %-12s %8.1f %12.1f %8.1f %8.1f   %zu of %zu\n", step.name, ended_ms, configured_ms,
              started_ms, stopped_ms, least, step.metrics.size());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t batch = argc > 1 ? static_cast<std::size_t>(std::atoi(argv[1])) : 128;
  const rangefinder::CuptiLibrary& library = counters_or_exit();
  unsigned long long* const span = make_span();
  const Step bytes{"bytes",
                   {"gr__cycles_active.sum", "sys__cycles_elapsed.avg.per_second", "dram__bytes_read.sum",
                    "dram__bytes_write.sum", "lts__t_bytes.sum"}};
  const Step sectors{"L2 sectors",
                     {"gr__cycles_active.sum", "sys__cycles_elapsed.avg.per_second",
                      "lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum"}};
  const Step compute{"SMs",
                     {"gr__cycles_active.sum", "sys__cycles_elapsed.avg.per_second", "sm__inst_executed.sum",
                      "sm__warps_active.avg.pct_of_peak_sustained_active"}};
  std::printf("batches of %zu; ms\n  metrics      session configuration   start     stop   with a value\n",
              batch);
  for (const bool anew : {false, true}) {
    std::printf("%s\n", anew ? "another session" : "another configuration");
    CounterRanges ranges(library, bytes.metrics, batch);
    for (const Step& step : {bytes, sectors, compute, bytes, compute, sectors}) {
      const double ended_ms = ms_of([&] {
        if (!anew) return;
        ranges.disable();
        ranges.enable();
      });
      ranges.change(step.metrics);
      print_step(ranges, step, ended_ms, span);
    }
  }
  return 0;
}
