// SPDX-License-Identifier: Apache-2.0
//
// What evaluating one hardware sample costs: cuptiProfilerHostEvaluateToGpuValues, PreparedMetrics, and both
// behind the choice between them (PmValues). Over the samples of a recorded counter image, so it needs no
// GPU.
//
//   pm_evaluate IMAGE [ROUNDS]     a counter image that pm_decode wrote, also packed by zstd; [21]
//
// us a sample, median of the rounds and their range; in each round the three take turns.
#include <zstd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "profiler/counters/cupti_params.h"
#include "profiler/counters/metric_config.h"
#include "profiler/counters/pm_values.h"
#include "profiler/counters/prepared_metrics.h"
#include "tests/bench/bench_cupti.h"

namespace {

using namespace rangefinder;
using Bytes = std::vector<std::uint8_t>;

// Those that pm_decode samples.
constexpr const char* kMetrics[] = {
    "dram__bytes_read.sum", "dram__bytes_write.sum",
    "lts__t_bytes.sum",     "gr__cycles_active.avg.pct_of_peak_sustained_elapsed",
    "pcie__read_bytes.sum", "pcie__write_bytes.sum"};

[[noreturn]] void fail(const std::string& reason) {
  std::fprintf(stderr, "pm_evaluate: %s\n", reason.c_str());
  std::exit(3);
}

Bytes read_image(const char* path) {
  std::ifstream file(path, std::ios::binary);
  Bytes bytes((std::istreambuf_iterator<char>(file)), {});
  if (bytes.empty()) fail(std::string("cannot read ") + path);
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) return bytes;
  Bytes image(size);
  if (ZSTD_isError(ZSTD_decompress(image.data(), image.size(), bytes.data(), bytes.size())))
    fail(std::string(path) + " is damaged");
  return image;
}

double us_a_sample(std::size_t samples, const std::function<bool(std::size_t)>& evaluate) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < samples; ++i) {
    if (!evaluate(i)) fail("a sample has no values");
  }
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() /
         static_cast<double>(samples);
}

void print(const char* way, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  std::printf("%-40s %6.2f (%.2f to %.2f)\n", way, times[times.size() / 2], times.front(), times.back());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) fail("an image, please: tests/replay/pm_image/image.zst");
  const Bytes image = read_image(argv[1]);
  const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 21;
  const CuptiLibrary& library = bench::cupti_or_exit();
  const CuptiFunctions& cupti = library.functions;
  preload_counter_library(library);
  MetricConfig config(cupti);
  if (config.build("GH100", {}, kMetrics, CUPTI_PROFILER_TYPE_PM_SAMPLING) != CUPTI_SUCCESS)
    fail("no metrics");
  const auto prepared = PreparedMetrics::make("GH100", kMetrics);
  if (prepared == nullptr) fail("libnvperf_host does not let metrics be prepared");
  PmValues chosen(config, [&](auto data, std::size_t sample, std::span<double> values) {
    return prepared->evaluate(data, sample, values);
  });
  auto info = RANGEFINDER_CUPTI_PARAMS(PmSampling_GetCounterDataInfo);
  info.pCounterDataImage = image.data();
  info.counterDataImageSize = image.size();
  if (cupti.PmSamplingGetCounterDataInfo(&info) != CUPTI_SUCCESS) fail("this is no counter image");

  const std::size_t samples = info.numCompletedSamples;
  std::vector<double> values(std::size(kMetrics)), by_name, by_request, by_choice;
  for (int round = 0; round < rounds; ++round) {
    by_name.push_back(us_a_sample(
        samples, [&](std::size_t i) { return config.evaluate(image, i, values) == CUPTI_SUCCESS; }));
    by_request.push_back(
        us_a_sample(samples, [&](std::size_t i) { return prepared->evaluate(image, i, values); }));
    by_choice.push_back(us_a_sample(
        samples, [&](std::size_t i) { return chosen.evaluate(image, i, values) == CUPTI_SUCCESS; }));
  }
  std::printf("%zu samples, %zu metrics, %d rounds; us a sample, median (least to most)\n", samples,
              std::size(kMetrics), rounds);
  print("cuptiProfilerHostEvaluateToGpuValues", by_name);
  print("PreparedMetrics", by_request);
  print(chosen.is_cheap() ? "PmValues, which took PreparedMetrics" : "PmValues, which kept to CUPTI",
        by_choice);
  return 0;
}
