// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/condition_totals.h"

#include "profiler/attribution/held_values.h"
#include "tests/catch.h"

namespace rangefinder {
namespace {

TEST_CASE("a held value counts for the time that it holds") {
  HeldValues clock;
  CHECK(clock.empty());
  clock.set(100, 1980);
  clock.set(400, 1455);
  clock.set(1000, 1980);
  clock.end(1100);
  CHECK(clock.min() == 1455);
  CHECK(clock.max() == 1980);
  CHECK(clock.median() == 1455);  // 600 of 1000 ns; 1450 to three digits, but not below the minimum
  CHECK(clock.mean() == Approx(0.4 * 1980 + 0.6 * 1455));
}

TEST_CASE("ends in between and times that run back change nothing") {
  HeldValues value;
  value.set(0, 10);
  value.end(500);
  value.set(400, 20);  // read before the end was: it holds from 500 on
  value.end(600);
  CHECK(value.times_ns().at(10) == 500);
  CHECK(value.times_ns().at(20) == 100);
}

TEST_CASE("a value that held for no time is its own median, and a count keeps nothing by time") {
  HeldValues value;
  value.set(5, 7);
  CHECK(value.median() == 7);
  HeldValues count;
  for (std::uint64_t i = 100; i < 200; ++i) count.count(i);
  CHECK(count.growth() == 99);
  CHECK(count.times_ns().empty());
}

TEST_CASE("values of a line hold until the subject's next line that has them") {
  ConditionTotals totals;
  const auto add = [&totals](TimeNs at, std::uint32_t gpu, Condition what, std::uint64_t value) {
    ConditionRecord record{at, ConditionOf::gpu, gpu};
    record.values[static_cast<std::size_t>(what)] = value;
    totals.add(record);
  };
  add(0, 0, Condition::sm_mhz, 1980);
  add(0, 1, Condition::sm_mhz, 900);
  add(10, 0, Condition::power_w, 700);
  add(60, 0, Condition::sm_mhz, 1455);
  add(60, 0, Condition::throttle, 0x4);
  add(70, 0, Condition::power_capped_ms, 5);
  add(90, 0, Condition::power_capped_ms, 25);
  totals.end(100);
  const auto& values = totals.subjects().at({ConditionOf::gpu, 0});
  const auto of = [&values](Condition what) { return values[static_cast<std::size_t>(what)]; };
  CHECK(of(Condition::sm_mhz).times_ns().at(1980) == 60);
  CHECK(of(Condition::power_capped_ms).growth() == 20);
  CHECK(throttle_times_ns(of(Condition::throttle)).at("sw_power_cap") == 40);
  CHECK(totals.subjects().size() == 2);
}

TEST_CASE("memory is bounded") {
  ConditionTotals totals;
  for (std::uint32_t thread = 0; thread < 3000; ++thread) totals.add({0, ConditionOf::thread, thread, {}});
  CHECK(totals.subjects().size() == ConditionTotals::kMaxSubjects);
  HeldValues memory;
  for (std::uint64_t i = 0; i < 200'000; ++i) memory.set(static_cast<TimeNs>(i), i);
  CHECK(memory.times_ns().size() < 5000);
}

}  // namespace
}  // namespace rangefinder
