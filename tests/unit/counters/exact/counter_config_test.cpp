// SPDX-License-Identifier: Apache-2.0
//
// One GPU's configuration, built by the real libcupti for a fake device.
#include "profiler/counters/exact/counter_config.h"

#include <array>
#include <cmath>
#include <limits>

#include "tests/catch.h"
#include "tests/unit/counters/counters_loaded.h"
#include "tests/unit/counters/device_without_gpu.h"

using namespace rangefinder;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint8_t kImage[8] = {};

}  // namespace

TEST_CASE("bytes are one group of one pass, in the order of ExactMetric") {
  COUNTERS_OR_SKIP(cupti);
  const CuptiLibrary library = test::without_gpu(cupti);
  CounterConfig config(library);

  REQUIRE((config.open(nullptr, 0) && config.build("bytes")));

  REQUIRE(config.groups() == 1);
  CHECK(config.config(0).passes() == 1);
  const std::vector<std::string>& metrics = config.plan().groups[0].metrics;
  REQUIRE(metrics.size() == kExactMetrics);
  for (std::size_t i = 0; i < kExactMetrics; ++i) CHECK(metrics[i] == kExactMetricNames[i]);
  CHECK(config.error().empty());
}

TEST_CASE("every group of several sets takes one pass and begins with the time") {
  COUNTERS_OR_SKIP(cupti);
  const CuptiLibrary library = test::without_gpu(cupti);
  CounterConfig config(library);

  REQUIRE((config.open(nullptr, 0) && config.build("bytes,memory,coalescing")));

  REQUIRE(config.groups() > 1);
  for (std::size_t group = 0; group < config.groups(); ++group) {
    INFO(config.plan().groups[group].name);
    CHECK(config.config(group).passes() == 1);
    CHECK(config.plan().groups[group].metrics[kEngineCycles] == kExactMetricNames[kEngineCycles]);
    CHECK(config.plan().groups[group].metrics[kEngineClock] == kExactMetricNames[kEngineClock]);
    CHECK(config.plan().groups[group].metrics.size() <= kMaxRangeMetrics);
  }
}

TEST_CASE("a refusal names the failed step and says how to fix it") {
  COUNTERS_OR_SKIP(cupti);
  const auto error_with = [&](CUptiResult test::DeviceWithoutGpu::*step, CUptiResult result) {
    const CuptiLibrary library = test::without_gpu(cupti);
    test::device.*step = result;
    CounterConfig config(library);
    CHECK_FALSE((config.open(nullptr, 0) && config.build("bytes")));
    CHECK(config.groups() == 0);
    return config.error();
  };
  using Device = test::DeviceWithoutGpu;

  CHECK(error_with(&Device::initialize, CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED)
            .find("cuptiProfilerInitialize failed") == 0);
  CHECK(error_with(&Device::chip_name, CUPTI_ERROR_INVALID_DEVICE).find("cuptiDeviceGetChipName failed") ==
        0);
  const std::string refused = error_with(&Device::availability, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  CHECK(refused.find("cuptiProfilerGetCounterAvailability failed") == 0);
  CHECK(refused.find("NVreg_RestrictProfilingToAdminUsers=0") != std::string::npos);
}

TEST_CASE("an unknown chip or metric is an error with a sentence") {
  COUNTERS_OR_SKIP(cupti);
  const CuptiLibrary library = test::without_gpu(cupti);
  CounterConfig wrong_metric(library), wrong_chip(library);

  CHECK_FALSE((wrong_metric.open(nullptr, 0) && wrong_metric.build("dram__byte_read.sum")));
  test::device.chip = "XX999";
  CHECK_FALSE((wrong_chip.open(nullptr, 0) && wrong_chip.build("bytes")));

  CHECK(wrong_metric.error().find("dram__bytes_read") != std::string::npos);
  CHECK(wrong_chip.error().find("XX999") != std::string::npos);
}

TEST_CASE("bytes need all values, other metrics only the time") {
  COUNTERS_OR_SKIP(cupti);
  const CuptiLibrary library = test::without_gpu(cupti);
  CounterConfig bytes(library), other(library);
  REQUIRE((bytes.open(nullptr, 0) && bytes.build("bytes")));
  REQUIRE(
      (other.open(nullptr, 0) && other.build("lts__t_tag_requests_hit.sum,lts__t_tag_requests_miss.sum")));
  std::array<double, kMaxRangeMetrics> values{};
  const auto evaluate = [&](CounterConfig& config, std::vector<double> given) {
    test::evaluated_metrics = config.plan().groups[0].metrics;
    test::device.values = {std::move(given)};
    return config.evaluate(0, kImage, 0, values);
  };

  CHECK(evaluate(bytes, {4100, 1e9, 1, 2, 3}));
  CHECK((values[kEngineCycles] == 4100 && values[kDramRead] == 1 && values[kL2Bytes] == 3));
  CHECK_FALSE(evaluate(bytes, {4100, 1e9, 1, kNan, 3}));
  CHECK(evaluate(other, {4100, 1e9, kNan, 7}));
  CHECK((std::isnan(values[2]) && values[3] == 7));
  CHECK_FALSE(evaluate(other, {kNan, 1e9, 6, 7}));
}

TEST_CASE("a metric that cannot be evaluated does not affect the others") {
  COUNTERS_OR_SKIP(cupti);
  const CuptiLibrary library = test::without_gpu(cupti);
  CounterConfig config(library);
  REQUIRE(
      (config.open(nullptr, 0) && config.build("lts__t_tag_requests_hit.sum,lts__t_tag_requests_miss.sum")));
  test::evaluated_metrics = config.plan().groups[0].metrics;
  test::device.values = {{4100, 1e9, 6, 7}};
  test::device.refused_metric = "lts__t_tag_requests_hit.sum";
  std::array<double, kMaxRangeMetrics> values{};

  CHECK(config.evaluate(0, kImage, 0, values));

  CHECK((values[kEngineCycles] == 4100 && std::isnan(values[2]) && values[3] == 7));
}
