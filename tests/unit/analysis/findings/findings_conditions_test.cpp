// SPDX-License-Identifier: Apache-2.0
//
// Rules about clocks, processors, memory and other processes. Real traces: findings_table_test.cpp.
#include <initializer_list>
#include <utility>

#include "tests/catch.h"
#include "tests/unit/analysis/findings/findings_trace.h"

namespace rangefinder {
namespace {
using namespace test;

constexpr TimeNs kMillisecond = 1'000'000;
constexpr std::uint64_t kPowerCap = 0x4, kThermal = 0x20, kIdle = 0x1;

struct ConditionedTrace : MadeTrace {
  /// 20 iterations of 50 ms from 1 ms on, with kernels for `busy_ms` of each.
  explicit ConditionedTrace(TimeNs busy_ms = 48) {
    add_path("step");
    add_name("gemm(float*)");
    const auto config = add_config(grid_of(66'000, 256));
    repeat(20, [&](TimeNs at) {
      add(1, 1, config, at + 10'000, busy_ms * kMillisecond);
      return at + 50 * kMillisecond;
    });
  }
  void put_values(TimeNs at, ConditionOf subject,
                  std::initializer_list<std::pair<Condition, std::uint64_t>> values) {
    ConditionRecord record{at, subject, 0};
    for (const auto& [condition, value] : values) record.values[static_cast<std::size_t>(condition)] = value;
    put(record);
  }
  void clocks(std::uint64_t mhz, std::uint64_t reasons) {
    using enum Condition;
    put_values(0, ConditionOf::gpu, {{sm_mhz, 1980}, {throttle, 0}, {power_limit_w, 700}});
    put_values(60 * kMillisecond, ConditionOf::gpu, {{sm_mhz, mhz}, {throttle, reasons}});
  }
  /// From the begin to the end of the run, which lasts a second.
  void grows(Condition condition, std::uint64_t by) {
    put_values(kMillisecond, ConditionOf::process, {{condition, 100}});
    put_values(1'000 * kMillisecond, ConditionOf::process, {{condition, 100 + by}});
  }
};

TEST_CASE("a clock that the power limit lowers is power_capped, with the part that it costs") {
  ConditionedTrace trace;
  trace.clocks(1485, kPowerCap);
  const auto found = trace.found();

  const Finding capped = required(found, "power_capped");
  check_evidence(capped,
                 {{"low_clock_mhz", Approx(1485)}, {"max_clock_mhz", 1980}, {"reason", "sw_power_cap"}});
  CHECK(static_cast<double>(*capped.saving_ns) / static_cast<double>(capped.of_ns) ==
        Approx(0.25).margin(0.01));
  CHECK(capped.effect.find("its power limit of 700 W") != std::string::npos);
  CHECK(find(found, "throttled") == nullptr);
}

TEST_CASE("a clock that is lowered for heat or by a setting is throttled") {
  for (const std::uint64_t reason : {kThermal, std::uint64_t{0x40}, std::uint64_t{0x2}, std::uint64_t{0}}) {
    ConditionedTrace trace;
    trace.clocks(1400, reason);
    const auto found = trace.found();
    CHECK(find(found, "throttled") != nullptr);
    CHECK(find(found, "power_capped") == nullptr);
  }
}

TEST_CASE("a clock within 5 % of the highest, and one of an idle GPU, is not low") {
  ConditionedTrace near;
  near.clocks(1900, kPowerCap);
  CHECK(find(near.found(), "power_capped") == nullptr);
  ConditionedTrace idle;
  idle.clocks(345, kIdle);
  CHECK(find(idle.found(), "throttled") == nullptr);
}

TEST_CASE("a quota that stops the process is cpu_limited, by at most the idle time") {
  ConditionedTrace trace(20);
  trace.grows(Condition::quota_throttled_ms, 400);
  trace.grows(Condition::cpu_ms, 500);
  trace.put_values(kMillisecond, ConditionOf::process, {{Condition::millicores, 500}});
  const Finding limited = required(trace.found(), "cpu_limited");

  check_evidence(limited, {{"cores_allowed", 0.5}, {"stopped_share", Approx(0.42).margin(0.02)}});
  CHECK(limited.effect.find("0.50 cores stops the process") != std::string::npos);
  CHECK(*limited.saving_ns <= limited.of_ns * 6 / 10);
}

TEST_CASE("a process that uses its cores while the GPU idles is cpu_limited, one with idle cores is not") {
  const auto with = [](TimeNs busy_ms, std::uint64_t cpu_ms) {
    ConditionedTrace trace(busy_ms);
    trace.put_values(kMillisecond, ConditionOf::process, {{Condition::millicores, 2000}});
    trace.grows(Condition::cpu_ms, cpu_ms);
    trace.grows(Condition::involuntary_switches, 500);
    return trace.found();
  };
  CHECK(find(with(20, 1990), "cpu_limited") != nullptr);
  CHECK(find(with(20, 900), "cpu_limited") == nullptr);
  CHECK(find(with(48, 1990), "cpu_limited") == nullptr);  // the GPU is busy: no more cores are needed
}

TEST_CASE("pages that come from a disk in iterations are swapping") {
  ConditionedTrace many;
  many.grows(Condition::major_faults, 300);
  many.put_values(kMillisecond, ConditionOf::process, {{Condition::swap_mib, 512}});
  const Finding found = required(many.found(), "swapping");
  CHECK(number(found, "swap_mib") == 512);
  CHECK(found.severity == Severity::notable);
  ConditionedTrace few;
  few.grows(Condition::major_faults, 5);
  CHECK(find(few.found(), "swapping") == nullptr);
}

TEST_CASE("a GPU that is busy beyond this process's kernels is shared, one that others only hold is not") {
  const auto with = [](std::uint64_t others, std::uint64_t busy_pct) {
    ConditionedTrace trace(20);
    using enum Condition;
    trace.put_values(kMillisecond, ConditionOf::gpu, {{other_processes, others}, {gpu_busy_pct, busy_pct}});
    return trace.found();
  };
  check_evidence(required(with(1, 95), "shared_gpu"),
                 {{"other_processes", 1}, {"gpu_busy_share", Approx(0.95)}});
  CHECK(find(with(1, 42), "shared_gpu") == nullptr);
  CHECK(find(with(0, 95), "shared_gpu") == nullptr);
}

TEST_CASE("a trace without conditions has no finding about them") {
  const auto found = ConditionedTrace().found();
  for (const char* const id : {"power_capped", "throttled", "cpu_limited", "swapping", "shared_gpu"})
    CHECK(find(found, id) == nullptr);
}

}  // namespace
}  // namespace rangefinder
