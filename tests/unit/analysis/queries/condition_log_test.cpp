// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/condition_log.h"

#include "tests/catch.h"
#include "tools/analysis/diff/run_conditions.h"

namespace rangefinder {
namespace {

ConditionRecord of_gpu(TimeNs at, std::uint32_t gpu, Condition what, std::uint64_t value) {
  ConditionRecord out{at, ConditionOf::gpu, gpu};
  out.values[static_cast<std::size_t>(what)] = value;
  return out;
}

TEST_CASE("statistics of a span begin with the value that holds at its start") {
  ConditionLog log;
  log.add(of_gpu(0, 0, Condition::sm_mhz, 1980));
  log.add(of_gpu(100, 0, Condition::sm_mhz, 1500));
  log.add(of_gpu(300, 0, Condition::sm_mhz, 1400));
  const auto& series = log.subjects().at({ConditionOf::gpu, 0})[static_cast<std::size_t>(Condition::sm_mhz)];

  const HeldValues span = ConditionLog::within(series, 150, 400);
  CHECK(span.first() == 1500);
  CHECK(span.times_ns().at(1500) == 150);
  CHECK(span.times_ns().at(1400) == 100);
  CHECK(span.max() == 1500);
  CHECK(ConditionLog::within(series, -50, 50).first() == 1980);
  CHECK(ConditionLog::within(series, 500, 600).median() == 1400);
  CHECK(ConditionLog::within({}, 0, 100).empty());
  CHECK(log.last_ns() == 300);
}

TEST_CASE("clocks that differ by more than 3 % are named, and give a ratio") {
  const auto run = [](std::uint64_t mhz, std::uint64_t watts, std::uint64_t capped_ms) {
    ConditionLog log;
    log.add(of_gpu(0, 0, Condition::sm_mhz, mhz));
    log.add(of_gpu(0, 0, Condition::power_w, watts));
    log.add(of_gpu(0, 0, Condition::power_capped_ms, 0));
    log.add(of_gpu(1'000'000'000, 0, Condition::power_capped_ms, capped_ms));
    return run_conditions(log, 0, 1'000'000'000);
  };
  const RunConditions fast = run(1980, 650, 0), slow = run(1485, 700, 900);
  const auto texts = condition_differences(fast, slow);
  REQUIRE(texts.size() == 3);
  CHECK(texts[0] == "SM clock under load: 1,980 and 1,485 MHz (-25.0 %)");
  CHECK(texts[1] == "power under load: 650 and 700 W (+7.7 %)");
  CHECK(texts[2] == "clock lowered for power: 0.0 % and 90.0 % of the time");
  CHECK(*clock_ratio(fast, slow) == Approx(0.75));
  CHECK(condition_differences(fast, run(1965, 660, 10)).empty());
  CHECK_FALSE(clock_ratio(fast, run(1965, 660, 0)));
  CHECK_FALSE(clock_ratio(fast, {}));
}

}  // namespace
}  // namespace rangefinder
