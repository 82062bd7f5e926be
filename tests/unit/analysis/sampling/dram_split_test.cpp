// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/dram_split.h"

#include <cmath>

#include "profiler/conditions/condition_value.h"
#include "tests/catch.h"

namespace rangefinder {
namespace {

constexpr TimeNs kMs = 1'000'000;
constexpr TimeNs kPeriodNs = 100 * kMs;
constexpr double kPeak = 4000e9;  // bytes/s
constexpr double kMib = 1 << 20;
constexpr std::uint32_t kCopies = 1, kProducts = 2;  // owners, and paths

/// Phases of work one after the other, and NVML's values of them, which are late by `lag_ns`.
struct PhasedRun {
  struct Phase {
    std::uint32_t owner = 0;
    TimeNs start_ns = 0, end_ns = 0;
    double bytes_per_ns = 0;
  };
  std::vector<Phase> phases;
  TimeNs end_ns = 0;

  void add(std::uint32_t owner, TimeNs length_ns, double part_of_peak) {
    phases.push_back({owner, end_ns, end_ns + length_ns, part_of_peak * kPeak / 1e9});
    end_ns += length_ns;
  }
  [[nodiscard]] double bytes_until(TimeNs at_ns) const {
    double sum = 0;
    for (const Phase& phase : phases) {
      sum += static_cast<double>(std::max<TimeNs>(0, std::min(at_ns, phase.end_ns) - phase.start_ns)) *
             phase.bytes_per_ns;
    }
    return sum;
  }
  [[nodiscard]] double bytes_of(std::uint32_t owner) const {
    double sum = 0;
    for (const Phase& phase : phases) {
      if (phase.owner == owner)
        sum += static_cast<double>(phase.end_ns - phase.start_ns) * phase.bytes_per_ns;
    }
    return sum;
  }

  [[nodiscard]] std::unordered_map<std::uint32_t, DramShare> shares(TimeNs lag_ns) const {
    DramSplit split;
    GpuRecord gpu;
    gpu.peak_dram_bytes_per_s = static_cast<std::uint64_t>(kPeak);
    split.add(gpu);
    for (TimeNs at_ns = 0; at_ns <= end_ns + 3 * kPeriodNs; at_ns += kPeriodNs) {
      ConditionRecord record{at_ns, ConditionOf::gpu, 0, {}};
      value_of(record.values, Condition::dram_mib) =
          static_cast<std::uint64_t>(bytes_until(at_ns - lag_ns) / kMib);
      split.add(record);
    }
    for (const Phase& phase : phases) {
      for (TimeNs at_ns = phase.start_ns; at_ns < phase.end_ns; at_ns += kMs) {
        GpuWork work;
        work.path = phase.owner;
        work.start_ns = at_ns;
        work.end_ns = std::min(at_ns + kMs, phase.end_ns);
        split.add_work(work, phase.owner);
      }
    }
    return split.shares([](std::uint32_t) { return DramSplit::kNoOwner; });
  }
};

PhasedRun two_phases(TimeNs length_ns) {
  PhasedRun run;
  for (int i = 0; i < 6; ++i) {
    run.add(kCopies, length_ns, 0.9);
    run.add(kProducts, length_ns, 0.1);
  }
  return run;
}

TEST_CASE("phases longer than an interval have their bytes, however late NVML's values are") {
  const PhasedRun run = two_phases(370 * kMs);
  for (const TimeNs lag_ns : {0 * kMs, 50 * kMs, 110 * kMs, 150 * kMs}) {
    CAPTURE(lag_ns);
    const auto shares = run.shares(lag_ns);
    for (const std::uint32_t owner : {kCopies, kProducts}) {
      const DramShare& share = shares.at(owner);
      CHECK(share.bytes == Approx(run.bytes_of(owner)).epsilon(0.02));
      CHECK(std::abs(share.bytes - run.bytes_of(owner)) <= share.error);
      CHECK(share.counted_ns == Approx(share.work_ns));
    }
    CHECK(shares.at(kCopies).error < 0.3 * shares.at(kCopies).bytes);
  }
}

TEST_CASE("the bound covers what the peak allows where phases are shorter than an interval") {
  const PhasedRun run = two_phases(30 * kMs);
  const auto shares = run.shares(60 * kMs);
  for (const std::uint32_t owner : {kCopies, kProducts}) {
    CHECK(std::abs(shares.at(owner).bytes - run.bytes_of(owner)) <= shares.at(owner).error);
  }
}

TEST_CASE("work that has the GPU to itself has all bytes, with GPM's own error alone") {
  PhasedRun run;
  run.add(kCopies, 2000 * kMs, 0.5);
  const DramShare share = run.shares(100 * kMs).at(kCopies);
  CHECK(share.bytes == Approx(run.bytes_of(kCopies)).epsilon(0.001));
  CHECK(share.error == Approx(0.025 * share.bytes).epsilon(0.01));
}

TEST_CASE("work while NVML did not count has no bytes, and is not in counted_ns") {
  PhasedRun run;
  run.add(kCopies, 500 * kMs, 0.5);
  DramSplit split;
  GpuWork work;
  work.start_ns = 0;
  work.end_ns = run.end_ns;
  work.path = kCopies;
  split.add_work(work, kCopies);
  for (const std::uint64_t mib : {0, 1000}) {
    ConditionRecord record{static_cast<TimeNs>(mib == 0 ? 300 : 400) * kMs, ConditionOf::gpu, 0, {}};
    value_of(record.values, Condition::dram_mib) = mib;
    split.add(record);
  }
  const auto shares = split.shares([](std::uint32_t) { return DramSplit::kNoOwner; });
  CHECK(shares.at(kCopies).bytes == Approx(1000 * kMib));
  CHECK(shares.at(kCopies).work_ns == Approx(500e6));
  CHECK(shares.at(kCopies).counted_ns == Approx(100e6));
}

TEST_CASE("times of a damaged trace cost no memory") {
  DramSplit split;
  GpuWork work;
  work.start_ns = 0;
  for (const TimeNs end_ns : {INT64_MAX, TimeNs{-5}, TimeNs{INT64_MIN}}) {
    work.end_ns = end_ns;
    split.add_work(work, kCopies);
  }
  for (const TimeNs at_ns : {TimeNs{INT64_MIN}, TimeNs{0}, TimeNs{INT64_MAX}}) {
    ConditionRecord record{at_ns, ConditionOf::gpu, 0, {}};
    value_of(record.values, Condition::dram_mib) = at_ns > 0 ? UINT64_MAX : 0;
    split.add(record);
  }
  CHECK(split.shares([](std::uint32_t) { return DramSplit::kNoOwner; }).empty());
}

TEST_CASE("a trace without such values has no shares") {
  DramSplit split;
  CHECK(split.shares([](std::uint32_t) { return DramSplit::kNoOwner; }).empty());
}

}  // namespace
}  // namespace rangefinder
