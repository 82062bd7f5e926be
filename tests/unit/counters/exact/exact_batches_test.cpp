// SPDX-License-Identifier: Apache-2.0
//
// Batches of counter ranges for the drain thread: with values and without.
#include "profiler/counters/exact/exact_batches.h"

#include <limits>
#include <memory>

#include "tests/catch.h"
#include "tests/unit/counters/counters_loaded.h"
#include "tests/unit/counters/device_without_gpu.h"

using namespace rangefinder;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
const std::vector<std::uint8_t> kImage(64);

std::vector<ExactLaunch> ranges_of(std::uint32_t count) {
  std::vector<ExactLaunch> ranges(count);
  for (std::uint32_t i = 0; i < count; ++i) ranges[i].event.correlation = i + 1;
  return ranges;
}

/// Batches, and the configuration of a GPU for the set `bytes`.
struct Collected {
  explicit Collected(const CuptiFunctions& real) : library(test::without_gpu(real)), config(library) {
    REQUIRE((config.open(nullptr, 0) && config.build("bytes")));
    test::evaluated_metrics = config.plan().groups[0].metrics;
  }

  std::vector<ExactLaunch> take() {
    std::vector<ExactLaunch> out;
    const auto of_gpu_0 = [](void* own, std::uint32_t gpu) {
      return gpu == 0 ? static_cast<CounterConfig*>(own) : nullptr;
    };
    batches.take(out, of_gpu_0, &config);
    return out;
  }

  CuptiLibrary library;
  CounterConfig config;
  LossLedger loss;
  ExactBatches batches{library.functions, loss};
};

}  // namespace

TEST_CASE("values go to the range of their number, in any order") {
  COUNTERS_OR_SKIP(cupti);
  Collected collected(cupti);
  test::device.range_names = {"2", "0", "1"};
  test::device.values = {{4102, 1e9, 12, 22, 32}, {4100, 1e9, 10, 20, 30}, {4101, 1e9, 11, 21, 31}};

  collected.batches.give(0, 0, ranges_of(3), kImage);
  const std::vector<ExactLaunch> taken = collected.take();

  REQUIRE(taken.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(taken[i].outcome == CounterOutcome::measured);
    CHECK(taken[i].values[kDramRead] == 10 + static_cast<double>(i));
  }
  CHECK(collected.loss.get(Loss::exact_unmeasured) == 0);
  CHECK(collected.batches.given() == 1);
}

TEST_CASE("a range without values, or with a NaN, has the outcome lost") {
  COUNTERS_OR_SKIP(cupti);
  Collected collected(cupti);
  test::device.range_names = {"0", "2"};  // number 1 is missing
  test::device.values = {{4100, 1e9, 10, 20, 30}, {4102, 1e9, 12, kNan, 32}};

  collected.batches.give(0, 0, ranges_of(3), kImage);
  const std::vector<ExactLaunch> taken = collected.take();

  REQUIRE(taken.size() == 3);
  CHECK(taken[0].outcome == CounterOutcome::measured);
  CHECK(taken[1].outcome == CounterOutcome::lost);
  CHECK(taken[2].outcome == CounterOutcome::lost);
  CHECK(collected.loss.get(Loss::exact_unmeasured) == 2);
}

TEST_CASE("a disturbed range stays unmeasured although CUPTI has values") {
  COUNTERS_OR_SKIP(cupti);
  Collected collected(cupti);
  test::device.range_names = {"0"};
  test::device.values = {{4100, 1e9, 10, 20, 30}};
  std::vector<ExactLaunch> ranges = ranges_of(1);
  ranges[0].outcome = CounterOutcome::shared;

  collected.batches.give(0, 0, ranges, kImage);

  CHECK(collected.take().at(0).outcome == CounterOutcome::shared);
}

TEST_CASE("names that are no range number of the batch are ignored") {
  COUNTERS_OR_SKIP(cupti);
  Collected collected(cupti);
  test::device.range_names = {"7", "", "x"};
  test::device.values.assign(3, {4100, 1e9, 10, 20, 30});

  collected.batches.give(0, 0, ranges_of(1), kImage);

  CHECK(collected.take().at(0).outcome == CounterOutcome::lost);
}

TEST_CASE("launches are delivered even without an image, a readable one, or a configuration") {
  COUNTERS_OR_SKIP(cupti);
  Collected collected(cupti);
  test::device.range_names = {"0"};
  test::device.values = {{4100, 1e9, 10, 20, 30}};

  collected.batches.give(0, 0, ranges_of(1), {});
  collected.batches.give(1, 0, ranges_of(1), kImage);  // no such GPU
  std::vector<ExactLaunch> taken = collected.take();
  test::device.info = CUPTI_ERROR_INVALID_PARAMETER;
  collected.batches.give(0, 0, ranges_of(1), kImage);
  taken.push_back(collected.take().at(0));

  REQUIRE(taken.size() == 3);
  for (const ExactLaunch& launch : taken) CHECK(launch.outcome == CounterOutcome::lost);
  CHECK(collected.loss.get(Loss::exact_unmeasured) == 3);
}

TEST_CASE("the launches of a range without values count as unmeasured, each once") {
  COUNTERS_OR_SKIP(cupti);
  Collected collected(cupti);
  ExactLaunch range, inside, refused;
  range.is_counter_range = true;
  range.counter_range = inside.counter_range = 4;
  range.launches = 5;
  refused.outcome = CounterOutcome::turn;
  refused.event.launch.result = 1;  // the call failed: nothing was launched

  collected.batches.give(inside);
  collected.batches.give(refused);
  collected.batches.give(0, 0, std::vector{range}, {});
  CHECK(collected.take().size() == 3);

  CHECK(collected.loss.get(Loss::exact_unmeasured) == 5);
}

TEST_CASE("many small batches fit, and what does not fit is counted") {
  COUNTERS_OR_SKIP(cupti);
  Collected collected(cupti);
  const std::vector<std::uint8_t> large(ExactBatches::kMaxImageBytes / 2 + 1);

  for (int i = 0; i < 1000; ++i) collected.batches.give(0, 0, ranges_of(1), kImage);
  CHECK(collected.take().size() == 1000);
  CHECK(collected.loss.get(Loss::events_dropped) == 0);

  collected.batches.give(0, 0, ranges_of(4), large);
  collected.batches.give(0, 0, ranges_of(3), large);
  CHECK(collected.take().size() == 4);
  CHECK(collected.loss.get(Loss::events_dropped) == 3);

  collected.batches.give(0, 0, ranges_of(3), large);
  CHECK(collected.take().size() == 3);
}

TEST_CASE("waiting launches are bounded, and those that do not fit are counted") {
  COUNTERS_OR_SKIP(cupti);
  Collected collected(cupti);

  for (std::size_t i = 0; i < ExactBatches::kMaxWaiting + 2; ++i) collected.batches.give(ExactLaunch{});

  CHECK(collected.take().size() == ExactBatches::kMaxWaiting);
  CHECK(collected.loss.get(Loss::events_dropped) == 2);
}
