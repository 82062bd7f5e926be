// SPDX-License-Identifier: Apache-2.0
//
// Uses CUPTI's own host API, which needs no GPU and knows every chip's counters.
#include "profiler/counters/metrics/metric_config.h"

#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/counters/counters_loaded.h"

using namespace rangefinder;

namespace {

CUptiResult build(MetricConfig& config, const char* chip, const std::vector<const char*>& metrics) {
  return config.build(chip, {}, metrics);
}

const std::vector<const char*> kExactNames(std::begin(kExactMetricNames), std::end(kExactMetricNames));

}  // namespace

TEST_CASE("the counters of exact mode fit in one pass on every chip listed here") {
  COUNTERS_OR_SKIP(cupti);
  for (const char* chip : {"GA100", "AD102", "GH100", "GB100"}) {
    INFO(chip);
    MetricConfig config(cupti);

    REQUIRE(build(config, chip, kExactNames) == CUPTI_SUCCESS);

    CHECK(config.passes() == 1);
    CHECK_FALSE(config.image().empty());
    CHECK(config.host() != nullptr);
  }
}

TEST_CASE("the same counters give the same configuration") {
  COUNTERS_OR_SKIP(cupti);
  MetricConfig first(cupti), second(cupti);

  REQUIRE(build(first, "GH100", kExactNames) == CUPTI_SUCCESS);
  REQUIRE(build(second, "GH100", kExactNames) == CUPTI_SUCCESS);

  CHECK(std::vector(first.image().begin(), first.image().end()) ==
        std::vector(second.image().begin(), second.image().end()));
}

TEST_CASE("more counters than the hardware has need more passes") {
  COUNTERS_OR_SKIP(cupti);
  MetricConfig config(cupti);
  std::vector<const char*> many = kExactNames;
  many.push_back("l1tex__t_requests.sum");

  REQUIRE(build(config, "GH100", many) == CUPTI_SUCCESS);

  CHECK(config.passes() > 1);
}

TEST_CASE("a counter that the chip lacks is an error, not an empty configuration") {
  COUNTERS_OR_SKIP(cupti);
  MetricConfig config(cupti);

  CHECK(build(config, "GH100", {"gpu__time_duration.sum", "dram__bytes_dreamt.sum"}) != CUPTI_SUCCESS);

  CHECK(config.image().empty());
  CHECK(config.passes() == 0);
}

TEST_CASE("a chip that libcupti does not know is an error, and no host object is held") {
  COUNTERS_OR_SKIP(cupti);
  MetricConfig config(cupti);

  CHECK(build(config, "GX999", kExactNames) != CUPTI_SUCCESS);

  CHECK(config.host() == nullptr);
  CHECK(config.passes() == 0);
}

TEST_CASE("a NaN value is an error, so that it never becomes bytes") {
  CuptiFunctions fake;
  fake.ProfilerHostEvaluateToGpuValues = [](CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
    for (std::size_t i = 0; i < params->numMetrics; ++i) params->pMetricValues[i] = 4096.0;
    if (params->rangeIndex == 1) params->pMetricValues[params->numMetrics - 1] = std::nan("");
    return CUPTI_SUCCESS;
  };
  fake.ProfilerHostInitialize = [](CUpti_Profiler_Host_Initialize_Params*) {
    return CUPTI_ERROR_NOT_SUPPORTED;
  };
  MetricConfig config(fake);
  REQUIRE(build(config, "GH100", kExactNames) == CUPTI_ERROR_NOT_SUPPORTED);  // sets the metric names
  const std::vector<std::uint8_t> counter_data(16);
  std::vector<double> values(kExactMetrics);

  CHECK(config.evaluate(counter_data, 0, values) == CUPTI_SUCCESS);
  CHECK(values == std::vector<double>(kExactMetrics, 4096.0));
  CHECK(config.evaluate(counter_data, 1, values) == CUPTI_ERROR_INVALID_METRIC_VALUE);
}
