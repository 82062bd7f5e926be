// SPDX-License-Identifier: Apache-2.0
//
// Evaluates a counter image recorded on an H200 (tests/replay/pm_image) in both ways: needs no GPU.
#include "profiler/counters/metrics/prepared_metrics.h"

#include <cstring>
#include <iterator>
#include <vector>

#include "profiler/counters/metrics/metric_config.h"
#include "profiler/counters/sampling/pm_values.h"
#include "tests/catch.h"
#include "tests/pm_image.h"
#include "tests/unit/counters/counters_loaded.h"

using namespace rangefinder;

namespace {

constexpr const char* kChip = "GH100";
constexpr std::size_t kCount = std::size(test::kPmImageMetrics);

/// The recorded image and CUPTI's own evaluation, which also loads the counter library.
struct Recorded {
  explicit Recorded(const CuptiFunctions& cupti) : config(cupti) {
    REQUIRE(config.build(kChip, {}, test::kPmImageMetrics, CUPTI_PROFILER_TYPE_PM_SAMPLING) == CUPTI_SUCCESS);
    REQUIRE_FALSE(image.empty());
  }
  const std::vector<std::uint8_t> image = test::read_pm_image(RANGEFINDER_TEST_PM_IMAGE);
  MetricConfig config;
};

}  // namespace

TEST_CASE("values of an H200's samples equal CUPTI's bit for bit") {
  COUNTERS_OR_SKIP(cupti);
  Recorded recorded(cupti);
  const auto prepared = PreparedMetrics::make(kChip, test::kPmImageMetrics);
  REQUIRE(prepared != nullptr);
  double values[kCount], expected[kCount];
  {
    const std::vector<std::uint8_t> first = recorded.image;  // sets the device attributes, then is destroyed
    REQUIRE(prepared->evaluate(first, 0, values));
  }

  const std::size_t samples = test::samples_of_pm_image(cupti, recorded.image);
  REQUIRE(samples == 1018);
  std::size_t differ = 0, busy = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    REQUIRE(prepared->evaluate(recorded.image, i, values));
    REQUIRE(recorded.config.evaluate(recorded.image, i, expected) == CUPTI_SUCCESS);
    differ += std::memcmp(values, expected, sizeof(values)) != 0 ? 1 : 0;
    busy += expected[0] > 1e6 ? 1 : 0;
  }
  CHECK(differ == 0);
  CHECK(busy > 900);
}

TEST_CASE("unknown metrics and chips cannot be prepared") {
  COUNTERS_OR_SKIP(cupti);
  const Recorded recorded(cupti);

  constexpr const char* kUnknown[] = {"dram__bytes_eaten.sum"};
  CHECK(PreparedMetrics::make(kChip, kUnknown) == nullptr);
  CHECK(PreparedMetrics::make("GH9", test::kPmImageMetrics) == nullptr);
}

TEST_CASE("it is used only with the verified CUPTI version") {
  CHECK(PreparedMetrics::is_verified_with(130'000));
  CHECK(PreparedMetrics::is_verified_with(130'001));
  CHECK_FALSE(PreparedMetrics::is_verified_with(130'100));
  CHECK_FALSE(PreparedMetrics::is_verified_with(120'900));
}

TEST_CASE("too little room for values gives none") {
  COUNTERS_OR_SKIP(cupti);
  Recorded recorded(cupti);
  const auto prepared = PreparedMetrics::make(kChip, test::kPmImageMetrics);
  REQUIRE(prepared != nullptr);
  double values[kCount];

  CHECK_FALSE(prepared->evaluate(recorded.image, 0, std::span(values).first(1)));
}

TEST_CASE("the fast path is used after it agreed with CUPTI, and dropped if it does not") {
  COUNTERS_OR_SKIP(cupti);
  Recorded recorded(cupti);
  Recorded own(cupti);
  double values[kCount], wrong_from = 1e9;
  int calls = 0;
  const auto fast = [&](auto data, std::size_t sample, std::span<double> out) {
    const bool done = own.config.evaluate(data, sample, out) == CUPTI_SUCCESS;
    if (calls++ >= wrong_from) out[2] += 1;
    return done;
  };
  PmValues proven(recorded.config, fast);

  std::size_t at = 0;
  while (!proven.uses_fast_path() && at < 1018)
    REQUIRE(proven.evaluate(recorded.image, at++, values) == CUPTI_SUCCESS);
  CHECK(proven.uses_fast_path());
  CHECK(calls == PmValues::kProven);
  REQUIRE(proven.evaluate(recorded.image, at, values) == CUPTI_SUCCESS);
  CHECK(calls == PmValues::kProven + 1);

  calls = 0;
  wrong_from = 3;
  PmValues other(recorded.config, fast);
  for (at = 0; at < 200; ++at) REQUIRE(other.evaluate(recorded.image, at, values) == CUPTI_SUCCESS);
  CHECK_FALSE(other.uses_fast_path());
  CHECK(calls == 4);
}
