// SPDX-License-Identifier: Apache-2.0
#include "profiler/conditions/gpu_conditions.h"

#include <algorithm>

#include "profiler/conditions/condition_value.h"
#include "tests/catch.h"
#include "tests/unit/conditions/fake_nvml.h"

namespace rangefinder {
namespace {

using test::FakeNvml;

constexpr pid_t kSelf = 4711;
constexpr unsigned kOwn = 4711, kOther = 4712, kThird = 4713;
constexpr std::int64_t kTurnNs = 100'000'000;
constexpr int kTurnsForAll = 10;  // the longest period

struct Gpu {
  explicit Gpu(const char* uuid = FakeNvml::kUuid, NvmlFunctions functions = FakeNvml::functions())
      : nvml(functions) {
    if (nvml.Init != nullptr) (void)nvml.Init();
    conditions.emplace(nvml, uuid, kSelf);
  }
  void turns(int count) {
    for (int i = 0; i < count; ++i) values = conditions->read(now_ns += kTurnNs);
  }
  [[nodiscard]] std::optional<std::uint64_t> operator[](Condition condition) const {
    return value_of(values, condition);
  }

  const NvmlFunctions nvml;
  std::optional<GpuConditions> conditions;
  std::int64_t now_ns = 0;
  ConditionValues values{};
};

std::vector<NvmlProcess> processes(std::initializer_list<unsigned> pids) {
  std::vector<NvmlProcess> list;
  for (const unsigned pid : pids) list.push_back({pid, 3ULL << 30, 0, 0});
  return list;
}

TEST_CASE("every value of a GPU is read, in the units of its key") {
  FakeNvml::reset().processes = processes({kOwn, kOther});
  Gpu gpu;
  REQUIRE(gpu.conditions->is_found());

  gpu.turns(kTurnsForAll);

  CHECK(gpu[Condition::sm_mhz] == 1980);
  CHECK(gpu[Condition::memory_mhz] == 2619);
  CHECK(gpu[Condition::power_w] == 350);
  CHECK(gpu[Condition::power_limit_w] == 700);
  CHECK(gpu[Condition::temperature_c] == 41);
  CHECK(gpu[Condition::throttle] == 4);
  CHECK(gpu[Condition::gpu_busy_pct] == 90);
  CHECK(gpu[Condition::memory_busy_pct] == 35);
  CHECK(gpu[Condition::power_capped_ms] == 5000);
  CHECK(gpu[Condition::thermal_capped_ms] == 0);
  CHECK(gpu[Condition::ecc_corrected] == 2);
  CHECK(gpu[Condition::ecc_uncorrected] == 1);
  CHECK(gpu[Condition::xids] == 0);
  CHECK_FALSE(gpu[Condition::last_xid]);
  CHECK(gpu[Condition::mig] == 0);
  CHECK(gpu[Condition::compute_mode] == 0);
  CHECK(gpu[Condition::other_processes] == 1);
  CHECK(gpu[Condition::other_memory_mib] == 3072);
  for (std::size_t i = 0; i < kConditionCount; ++i) {
    if (kConditions[i].subject != ConditionOf::gpu) CHECK_FALSE(gpu.values[i]);
  }
}

TEST_CASE("no turn makes more than one of the expensive calls, and each comes once in ten turns") {
  FakeNvml& nvml = FakeNvml::reset();
  const auto dear = [&nvml] {
    int sum = 0;
    for (const char* name : {"limit", "temperature", "corrected", "uncorrected", "mig", "mode", "processes"})
      sum += nvml.calls[name];
    return sum;
  };
  Gpu gpu;

  int most = 0;
  for (int i = 0; i < kTurnsForAll; ++i) {
    const int before = dear();
    gpu.turns(1);
    most = std::max(most, dear() - before);
  }

  CHECK(most == 1);
  CHECK(dear() == 7);
  CHECK(nvml.calls["power"] == kTurnsForAll);
}

TEST_CASE("a call that is not supported or not permitted is not made again, and others go on") {
  FakeNvml& nvml = FakeNvml::reset();
  nvml.errors["power"] = kNvmlNotSupported;
  nvml.errors["reasons"] = kNvmlNoPermission;
  Gpu gpu;

  gpu.turns(5);

  CHECK(nvml.calls["power"] == 1);
  CHECK(nvml.calls["reasons"] == 1);
  CHECK_FALSE(gpu[Condition::power_w]);
  CHECK_FALSE(gpu[Condition::throttle]);
  CHECK(nvml.calls["sm"] == 5);
}

TEST_CASE("a call that fails for another reason leaves its value absent until it succeeds") {
  FakeNvml& nvml = FakeNvml::reset();
  Gpu gpu;
  gpu.turns(1);
  CHECK(gpu[Condition::power_w] == 350);

  nvml.errors["power"] = 999;
  gpu.turns(1);
  CHECK_FALSE(gpu[Condition::power_w]);

  nvml.errors.clear();
  gpu.turns(1);
  CHECK(gpu[Condition::power_w] == 350);
}

TEST_CASE("one of the two times at a cap may be missing") {
  FakeNvml& nvml = FakeNvml::reset();
  nvml.errors["field 269"] = kNvmlNotSupported;
  Gpu gpu;

  gpu.turns(2);

  CHECK(gpu[Condition::power_capped_ms] == 5000);
  CHECK_FALSE(gpu[Condition::thermal_capped_ms]);
  CHECK(nvml.calls["fields"] == 2);
}

TEST_CASE("an older driver without some functions gives the other values") {
  FakeNvml::reset();
  NvmlFunctions functions = FakeNvml::functions();
  functions.DeviceGetFieldValues = nullptr;
  functions.EventSetWait = nullptr;
  functions.DeviceGetParent = nullptr;
  Gpu gpu(FakeNvml::kUuid, functions);
  REQUIRE(gpu.conditions->is_found());

  gpu.turns(kTurnsForAll);

  CHECK_FALSE(gpu[Condition::power_capped_ms]);
  CHECK_FALSE(gpu[Condition::xids]);
  CHECK(gpu[Condition::sm_mhz] == 1980);
}

TEST_CASE("a GPU that NVML does not know, or a machine without NVML, is not found") {
  FakeNvml::reset();

  CHECK_FALSE(Gpu("GPU-unknown").conditions->is_found());
  CHECK_FALSE(Gpu(FakeNvml::kUuid, FakeNvml::none()).conditions->is_found());
}

TEST_CASE("XIDs are counted from the start, through a pause") {
  FakeNvml& nvml = FakeNvml::reset();
  Gpu gpu;
  nvml.xids = {13, 31};
  gpu.turns(1);
  CHECK(gpu[Condition::xids] == 2);
  CHECK(gpu[Condition::last_xid] == 31);

  gpu.conditions->restart();
  gpu.turns(1);

  CHECK(gpu[Condition::xids] == 2);
  CHECK(gpu[Condition::last_xid] == 31);
}

TEST_CASE("after a GPU is lost only its XIDs are read") {
  FakeNvml& nvml = FakeNvml::reset();
  Gpu gpu;
  gpu.turns(1);
  nvml.errors["memory"] = kNvmlGpuIsLost;
  nvml.xids = {79};
  gpu.turns(1);
  const int calls_before = nvml.calls["sm"];

  gpu.turns(3);

  CHECK(nvml.calls["sm"] == calls_before);
  CHECK(gpu[Condition::last_xid] == 79);
  CHECK(gpu[Condition::xids] == 1);
  CHECK_FALSE(gpu[Condition::sm_mhz]);
  CHECK_FALSE(gpu[Condition::power_w]);
}

TEST_CASE("without this process in the list one of the others is taken for it") {
  FakeNvml& nvml = FakeNvml::reset();

  nvml.processes = processes({kOther, kThird});
  Gpu in_namespace;
  in_namespace.turns(kTurnsForAll);
  CHECK(in_namespace[Condition::other_processes] == 1);
  CHECK_FALSE(in_namespace[Condition::other_memory_mib]);

  nvml.processes = processes({kOther});
  Gpu alone;
  alone.turns(kTurnsForAll);
  CHECK(alone[Condition::other_processes] == 0);
  CHECK(alone[Condition::other_memory_mib] == 0);

  nvml.processes.clear();
  Gpu unlisted;
  unlisted.turns(kTurnsForAll);
  CHECK(unlisted[Condition::other_processes] == 0);
  CHECK(unlisted[Condition::other_memory_mib] == 0);
}

TEST_CASE("memory of other processes is absent if it is unknown for one of them") {
  FakeNvml& nvml = FakeNvml::reset();
  nvml.processes = processes({kOwn, kOther, kThird});
  nvml.processes[1].used_bytes = kNvmlValueNotAvailable;
  Gpu gpu;

  gpu.turns(kTurnsForAll);

  CHECK(gpu[Condition::other_processes] == 2);
  CHECK_FALSE(gpu[Condition::other_memory_mib]);
}

TEST_CASE("of more processes than the list holds only the number is known") {
  FakeNvml& nvml = FakeNvml::reset();
  nvml.processes.assign(1000, {kOther, 1ULL << 30, 0, 0});
  Gpu gpu;

  gpu.turns(kTurnsForAll);

  CHECK(gpu[Condition::other_processes] == 999);
  CHECK_FALSE(gpu[Condition::other_memory_mib]);
}

TEST_CASE("a MIG instance has the values of its GPU and its own processes") {
  FakeNvml& nvml = FakeNvml::reset();
  nvml.mig = 1;
  nvml.processes = processes({kOwn, kOther, kThird});
  nvml.mig_processes = processes({kOwn});
  Gpu gpu(FakeNvml::kMigUuid);
  REQUIRE(gpu.conditions->is_found());

  gpu.turns(kTurnsForAll);

  CHECK(gpu[Condition::mig] == 1);
  CHECK(gpu[Condition::sm_mhz] == 1980);
  CHECK(gpu[Condition::other_processes] == 0);
}

TEST_CASE("values from before a pause are forgotten") {
  FakeNvml::reset();
  Gpu gpu;
  gpu.turns(kTurnsForAll);
  REQUIRE(gpu[Condition::temperature_c] == 41);

  gpu.conditions->restart();
  gpu.turns(1);

  CHECK_FALSE(gpu[Condition::temperature_c]);
  CHECK(gpu[Condition::sm_mhz] == 1980);
}

constexpr std::uint64_t mib_of(double part_of_peak, double seconds) {
  constexpr double kPeak = 3201e6 * 2 * 6144 / 8, kMib = 1 << 20;  // the fake's clock and bus
  return static_cast<std::uint64_t>(part_of_peak * kPeak * seconds / kMib);
}

TEST_CASE("DRAM bytes are the sum of GPM's parts of the peak, only on request") {
  FakeNvml& nvml = FakeNvml::reset();
  Gpu gpu;
  gpu.turns(1);
  CHECK_FALSE(gpu[Condition::dram_mib]);
  CHECK(nvml.calls["sample"] == 0);

  gpu.conditions->count_dram();
  gpu.turns(1);
  CHECK(gpu[Condition::dram_mib] == 0);  // the first sample
  nvml.dram_pct = 50;
  gpu.turns(1);
  CHECK(gpu[Condition::dram_mib] == mib_of(0.5, 0.1));
  nvml.dram_pct = 0;
  gpu.turns(1);
  CHECK(gpu[Condition::dram_mib] == mib_of(0.5, 0.1));
}

TEST_CASE("an interval of which GPM has no value yet goes on") {
  FakeNvml& nvml = FakeNvml::reset();
  Gpu gpu;
  gpu.conditions->count_dram();
  gpu.turns(1);
  nvml.dram_pct = 25;
  nvml.errors["metric"] = 999;
  gpu.turns(2);
  CHECK(gpu[Condition::dram_mib] == 0);

  nvml.errors.clear();
  gpu.turns(1);
  CHECK(gpu[Condition::dram_mib] == mib_of(0.25, 0.3));
}

TEST_CASE("bytes that move while nothing is recorded do not count") {
  FakeNvml& nvml = FakeNvml::reset();
  Gpu gpu;
  gpu.conditions->count_dram();
  nvml.dram_pct = 50;
  gpu.turns(2);

  gpu.conditions->restart();
  gpu.turns(1);
  CHECK(gpu[Condition::dram_mib] == mib_of(0.5, 0.1));
}

TEST_CASE("a GPU without GPM has no DRAM bytes, and is not asked again") {
  FakeNvml& nvml = FakeNvml::reset();
  nvml.errors["sample"] = kNvmlNotSupported;
  Gpu gpu;
  gpu.conditions->count_dram();

  gpu.turns(3);

  CHECK_FALSE(gpu[Condition::dram_mib]);
  CHECK(nvml.calls["sample"] == 1);
}

}  // namespace
}  // namespace rangefinder
