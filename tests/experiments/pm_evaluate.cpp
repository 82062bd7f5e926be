// SPDX-License-Identifier: Apache-2.0
//
// Cost of evaluating one hardware sample: cuptiProfilerHostEvaluateToGpuValues, PreparedMetrics, and
// PmValues, which chooses between them. Uses the samples of a recorded counter image, so it needs no GPU.
//
//   pm_evaluate IMAGE [ROUNDS]     a counter image written by pm_decode, also compressed by zstd; [21]
//
// us per sample, median of the rounds and their range; in each round the three alternate.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "profiler/counters/metrics/metric_config.h"
#include "profiler/counters/metrics/prepared_metrics.h"
#include "profiler/counters/sampling/pm_values.h"
#include "tests/experiments/experiment.h"
#include "tests/pm_image.h"

namespace {

using namespace rangefinder;
using bench::fail;
using test::kPmImageMetrics;

double us_a_sample(std::size_t samples, const std::function<bool(std::size_t)>& evaluate) {
  const double us = bench::us_of([&] {
    for (std::size_t i = 0; i < samples; ++i) {
      if (!evaluate(i)) fail("a sample has no values");
    }
  });
  return us / static_cast<double>(samples);
}

void print(const char* way, const std::vector<double>& times) {
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  std::printf("%-40s %6.2f (%.2f to %.2f)\n", way, bench::median(times), *least, *most);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) fail("usage: pm_evaluate IMAGE [ROUNDS], for example tests/replay/pm_image/image.zst");
  const std::vector<std::uint8_t> image = test::read_pm_image(argv[1]);
  const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 21;
  const CuptiLibrary& library = bench::cupti_or_exit();
  const CuptiFunctions& cupti = library.functions;
  preload_counter_library(library);
  MetricConfig config(cupti);
  if (config.build("GH100", {}, kPmImageMetrics, CUPTI_PROFILER_TYPE_PM_SAMPLING) != CUPTI_SUCCESS)
    fail("no metrics");
  const auto prepared = PreparedMetrics::make("GH100", kPmImageMetrics);
  if (prepared == nullptr) fail("libnvperf_host cannot prepare metrics");
  PmValues chosen(config, [&](auto data, std::size_t sample, std::span<double> values) {
    return prepared->evaluate(data, sample, values);
  });
  const std::size_t samples = test::samples_of_pm_image(cupti, image);
  if (samples == 0) fail(std::string(argv[1]) + " is not a counter image, or cannot be read");
  std::vector<double> values(std::size(kPmImageMetrics)), by_name, by_request, by_choice;
  for (int round = 0; round < rounds; ++round) {
    by_name.push_back(us_a_sample(
        samples, [&](std::size_t i) { return config.evaluate(image, i, values) == CUPTI_SUCCESS; }));
    by_request.push_back(
        us_a_sample(samples, [&](std::size_t i) { return prepared->evaluate(image, i, values); }));
    by_choice.push_back(us_a_sample(
        samples, [&](std::size_t i) { return chosen.evaluate(image, i, values) == CUPTI_SUCCESS; }));
  }
  std::printf("%zu samples, %zu metrics, %d rounds; us a sample, median (minimum to maximum)\n", samples,
              std::size(kPmImageMetrics), rounds);
  print("cuptiProfilerHostEvaluateToGpuValues", by_name);
  print("PreparedMetrics", by_request);
  print(chosen.uses_fast_path() ? "PmValues, chose PreparedMetrics" : "PmValues, chose CUPTI", by_choice);
  return 0;
}
