// SPDX-License-Identifier: Apache-2.0
//
// Cost of sharing samples: per sample and per kernel in the application's drain thread (SampleSharing), and
// for a whole trace in the tools (SampledTrace).
//
//   sample_sharing_bench [SAMPLES]      5,000,000 by default, and twice as many kernels
#include <sys/resource.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "profiler/attribution/sample_sharing.h"
#include "tools/analysis/sampling/sampled_bytes.h"

using namespace rangefinder;

namespace {

constexpr TimeNs kIntervalNs = 20'000;
constexpr std::uint32_t kLineSamples = 500;

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

KernelRecord kernel_at(std::uint64_t n) {
  KernelRecord record;
  record.work.path = static_cast<std::uint32_t>(n % 400 + 2);
  record.work.range = n / 3;
  record.work.start_ns = static_cast<TimeNs>(n) * kIntervalNs / 2;
  record.work.end_ns = record.work.start_ns + 3'000 + static_cast<TimeNs>(n * 7'919 % 6'000);
  record.name = static_cast<std::uint32_t>(n % 60 + 1);
  return record;
}

/// Paths first, then samples and kernels: each line of samples follows the kernels of its time.
void visit(std::uint64_t samples, const RecordVisitor& see) {
  see(PathRecord{1, 0, 0, "model"});
  for (std::uint32_t path = 2; path < 402; ++path) see(PathRecord{path, 1, 0, "layer"});
  std::uint64_t kernel = 0;
  for (std::uint64_t first = 0; first < samples; first += kLineSamples) {
    SamplesRecord line;
    const TimeNs start = static_cast<TimeNs>(first) * kIntervalNs;
    line.runs = {{start, start + kIntervalNs * kLineSamples, kLineSamples}};
    for (std::uint64_t i = first; i < first + kLineSamples; ++i) {
      const auto units = static_cast<std::uint32_t>(i * 2'654'435'761U >> 12);
      line.columns[kSampleDramRead].push_back(units % 2'000'000);
      line.columns[kSampleDramWrite].push_back(units % 900'000);
      line.columns[kSampleL2].push_back(units % 5'000'000);
    }
    for (; kernel < 2 * (first + kLineSamples); ++kernel) see(kernel_at(kernel));
    see(line);
  }
}

void bench_live(std::uint64_t samples) {
  SampleSharing sharing;
  double spent = 0;
  TimeNs latest = 0, settled = 0;
  visit(samples, [&](const Line& line) {
    const double before = cpu_seconds();
    if (const auto* kernel = std::get_if<KernelRecord>(&line)) {
      sharing.add(*kernel);
      latest = kernel->work.end_ns;
      return;  // too short to time: timed below, over all kernels
    }
    if (const auto* record = std::get_if<SamplesRecord>(&line)) sharing.add(*record);
    if (latest - settled > 100'000'000) {
      settled = latest;
      sharing.advance(latest - 2'000'000'000);
    }
    spent += cpu_seconds() - before;
  });
  sharing.finish();

  SampleSharing kernels_only;
  const double before = cpu_seconds();
  for (std::uint64_t n = 0; n < 2 * samples; ++n) {
    kernels_only.add(kernel_at(n));
    if (n % 10'000 == 0) kernels_only.advance(kernel_at(n).work.end_ns - 2'000'000'000);
  }
  const double kernel_spent = cpu_seconds() - before;
  std::printf("live: %.0f ns a sample with two kernels in it, sharing included; %.0f ns to take a kernel\n",
              1e9 * spent / static_cast<double>(samples),
              1e9 * kernel_spent / static_cast<double>(2 * samples));
}

void bench_tools(std::uint64_t samples) {
  const double start = cpu_seconds();
  visit(samples, [](const Line&) {});
  const double made = cpu_seconds();
  const auto trace = SampledTrace::load([samples](const RecordVisitor& see) { visit(samples, see); });
  const double loaded = cpu_seconds();
  const SampledTotals totals = trace->totals();
  const double shared = cpu_seconds();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "tools: %.1f s to load and unmix, %.1f s to share, for %llu samples and %zu paths; each includes "
      "%.1f s to make the trace; at most %ld MB\n",
      loaded - made, shared - loaded, static_cast<unsigned long long>(totals.samples.samples),
      totals.paths.size(), made - start, usage.ru_maxrss / 1'000);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t samples = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 5'000'000;
  bench_live(samples);
  bench_tools(samples);
  return 0;
}
