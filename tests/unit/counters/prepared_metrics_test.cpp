// SPDX-License-Identifier: Apache-2.0
//
// A counter image that an H200 filled (tests/replay/pm_image), evaluated here in both ways: needs no GPU.
#include "profiler/counters/prepared_metrics.h"

#include <zstd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "profiler/counters/cupti_params.h"
#include "profiler/counters/metric_config.h"
#include "profiler/counters/pm_values.h"
#include "tests/catch.h"
#include "tests/unit/counters/counters_loaded.h"

using namespace rangefinder;

namespace {

constexpr const char* kChip = "GH100";
// Those that build/tests/pm_decode sampled.
constexpr const char* kMetrics[] = {
    "dram__bytes_read.sum", "dram__bytes_write.sum",
    "lts__t_bytes.sum",     "gr__cycles_active.avg.pct_of_peak_sustained_elapsed",
    "pcie__read_bytes.sum", "pcie__write_bytes.sum"};
constexpr std::size_t kCount = std::size(kMetrics);

std::vector<std::uint8_t> recorded_image() {
  std::ifstream file(RANGEFINDER_TEST_PM_IMAGE, std::ios::binary);
  const std::vector<char> packed((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::uint8_t> image(ZSTD_getFrameContentSize(packed.data(), packed.size()));
  REQUIRE(ZSTD_decompress(image.data(), image.size(), packed.data(), packed.size()) == image.size());
  return image;
}

std::size_t samples_in(const CuptiFunctions& cupti, const std::vector<std::uint8_t>& image) {
  auto info = RANGEFINDER_CUPTI_PARAMS(PmSampling_GetCounterDataInfo);
  info.pCounterDataImage = image.data();
  info.counterDataImageSize = image.size();
  REQUIRE(cupti.PmSamplingGetCounterDataInfo(&info) == CUPTI_SUCCESS);
  return info.numCompletedSamples;
}

}  // namespace

TEST_CASE("values of an H200's samples are CUPTI's, to the last bit") {
  COUNTERS_OR_SKIP(cupti);
  const std::vector<std::uint8_t> image = recorded_image();
  MetricConfig config(cupti);
  REQUIRE(config.build(kChip, {}, kMetrics, CUPTI_PROFILER_TYPE_PM_SAMPLING) == CUPTI_SUCCESS);
  const auto prepared = PreparedMetrics::make(kChip, kMetrics);
  REQUIRE(prepared != nullptr);
  double values[kCount], expected[kCount];
  {
    const std::vector<std::uint8_t> first = image;  // from which the device is known, and which is gone then
    REQUIRE(prepared->evaluate(first, 0, values));
  }

  const std::size_t samples = samples_in(cupti, image);
  REQUIRE(samples == 1018);
  std::size_t differ = 0, busy = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    REQUIRE(prepared->evaluate(image, i, values));
    REQUIRE(config.evaluate(image, i, expected) == CUPTI_SUCCESS);
    differ += std::memcmp(values, expected, sizeof(values)) != 0 ? 1 : 0;
    busy += expected[0] > 1e6 ? 1 : 0;
  }
  CHECK(differ == 0);
  CHECK(busy > 900);
}

TEST_CASE("what CUPTI does not know cannot be prepared") {
  COUNTERS_OR_SKIP(cupti);
  MetricConfig config(cupti);  // CUPTI loads the library of counters
  REQUIRE(config.build(kChip, {}, kMetrics, CUPTI_PROFILER_TYPE_PM_SAMPLING) == CUPTI_SUCCESS);

  constexpr const char* kUnknown[] = {"dram__bytes_eaten.sum"};
  CHECK(PreparedMetrics::make(kChip, kUnknown) == nullptr);
  CHECK(PreparedMetrics::make("GH9", kMetrics) == nullptr);
}

TEST_CASE("it is taken with the CUPTI that it was tried with") {
  CHECK(PreparedMetrics::is_tried_with(130'000));
  CHECK(PreparedMetrics::is_tried_with(130'001));
  CHECK_FALSE(PreparedMetrics::is_tried_with(130'100));
  CHECK_FALSE(PreparedMetrics::is_tried_with(120'900));
}

TEST_CASE("no room for values gives none") {
  COUNTERS_OR_SKIP(cupti);
  const std::vector<std::uint8_t> image = recorded_image();
  MetricConfig config(cupti);
  REQUIRE(config.build(kChip, {}, kMetrics, CUPTI_PROFILER_TYPE_PM_SAMPLING) == CUPTI_SUCCESS);
  const auto prepared = PreparedMetrics::make(kChip, kMetrics);
  REQUIRE(prepared != nullptr);
  double values[kCount];

  CHECK_FALSE(prepared->evaluate(image, 0, std::span(values).first(1)));
}

TEST_CASE("the cheap way is taken once it has agreed with CUPTI, and left when it does not") {
  COUNTERS_OR_SKIP(cupti);
  const std::vector<std::uint8_t> image = recorded_image();
  MetricConfig config(cupti);
  REQUIRE(config.build(kChip, {}, kMetrics, CUPTI_PROFILER_TYPE_PM_SAMPLING) == CUPTI_SUCCESS);
  MetricConfig own(cupti);
  REQUIRE(own.build(kChip, {}, kMetrics, CUPTI_PROFILER_TYPE_PM_SAMPLING) == CUPTI_SUCCESS);
  double values[kCount], wrong_from = 1e9;
  int asked = 0;
  PmValues way(config, [&](auto data, std::size_t sample, std::span<double> out) {
    const bool done = own.evaluate(data, sample, out) == CUPTI_SUCCESS;
    if (asked++ >= wrong_from) out[2] += 1;
    return done;
  });

  std::size_t at = 0;
  while (!way.is_cheap() && at < 1018) REQUIRE(way.evaluate(image, at++, values) == CUPTI_SUCCESS);
  CHECK(way.is_cheap());
  CHECK(asked == PmValues::kProven);
  REQUIRE(way.evaluate(image, at, values) == CUPTI_SUCCESS);
  CHECK(asked == PmValues::kProven + 1);

  asked = 0;
  wrong_from = 3;
  PmValues other(config, [&](auto data, std::size_t sample, std::span<double> out) {
    const bool done = own.evaluate(data, sample, out) == CUPTI_SUCCESS;
    if (asked++ >= wrong_from) out[2] += 1;
    return done;
  });
  for (at = 0; at < 200; ++at) REQUIRE(other.evaluate(image, at, values) == CUPTI_SUCCESS);
  CHECK_FALSE(other.is_cheap());
  CHECK(asked == 4);
}
