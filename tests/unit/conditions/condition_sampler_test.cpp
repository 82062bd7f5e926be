// SPDX-License-Identifier: Apache-2.0
#include "profiler/conditions/condition_sampler.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "profiler/conditions/condition_value.h"
#include "tests/catch.h"
#include "tests/unit/conditions/fake_nvml.h"
#include "tests/unit/conditions/fake_tree.h"

namespace rangefinder {
namespace {

using test::FakeNvml;
using test::FakeTree;

constexpr std::chrono::seconds kPatience{30};
constexpr std::uint32_t kGpu = 2;

std::atomic<std::int64_t> unix_ns{1000};
std::int64_t fake_unix_ns() {
  return unix_ns;
}

int loads = 0;
NvmlFunctions counted_load() {
  ++loads;
  return FakeNvml::functions();
}

struct Sampler {
  explicit Sampler(NvmlFunctions (*load)() = &FakeNvml::functions)
      : sampler({&fake_unix_ns, false, load, tree.root()}) {
    FakeNvml::reset();
    unix_ns = 1000;
  }
  void turns(int count) {
    for (int i = 0; i < count; ++i) sampler.turn(now_ns += ConditionSampler::kPeriodNs);
  }
  /// Records of GPUs since the last call.
  std::vector<ConditionRecord> gpu_records() {
    sampler.take(taken);
    std::vector<ConditionRecord> found;
    std::copy_if(taken.begin(), taken.end(), std::back_inserter(found),
                 [](const ConditionRecord& record) { return record.subject == ConditionOf::gpu; });
    return found;
  }

  FakeTree tree;  // without files: only getrusage and the affinity give values of the process
  ConditionSampler sampler;
  std::int64_t now_ns = 0;
  std::vector<ConditionRecord> taken;
};

/// Waits until `condition()` holds. False: it has not for kPatience.
template <typename Holds>
bool waited_until(const Holds& holds) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

TEST_CASE("a turn gives records of GPUs and of the process, at the time of the clock") {
  Sampler s;
  s.sampler.add_gpu(kGpu, FakeNvml::kUuid);
  unix_ns = 5000;

  s.turns(1);
  s.sampler.take(s.taken);

  REQUIRE(s.taken.size() == 2);
  CHECK(s.taken[0].subject == ConditionOf::gpu);
  CHECK(s.taken[0].id == kGpu);
  CHECK(s.taken[0].at_ns == 5000);
  CHECK(value_of(s.taken[0].values, Condition::sm_mhz) == 1980);
  CHECK(s.taken[1].subject == ConditionOf::process);
  CHECK(s.taken[1].id == 0);
  CHECK(value_of(s.taken[1].values, Condition::cpu_ms));
  s.sampler.take(s.taken);
  CHECK(s.taken.empty());
}

TEST_CASE("records have only what changed") {
  Sampler s;
  s.sampler.add_gpu(kGpu, FakeNvml::kUuid);
  s.turns(10);
  (void)s.gpu_records();

  s.turns(10);
  CHECK(s.gpu_records().empty());

  FakeNvml::instance().sm_mhz = 1410;
  s.turns(1);
  const auto records = s.gpu_records();
  REQUIRE(records.size() == 1);
  CHECK(value_of(records[0].values, Condition::sm_mhz) == 1410);
  CHECK_FALSE(value_of(records[0].values, Condition::power_w));
}

TEST_CASE("NVML is loaded in the first turn with a GPU, once") {
  loads = 0;
  Sampler s(&counted_load);
  s.turns(3);
  CHECK(loads == 0);

  s.sampler.add_gpu(0, FakeNvml::kUuid);
  CHECK(loads == 0);
  s.turns(1);
  s.sampler.add_gpu(1, FakeNvml::kUuid);
  s.sampler.add_gpu(1, FakeNvml::kUuid);  // known
  s.turns(1);

  CHECK(loads == 1);
  CHECK(FakeNvml::instance().calls["Init"] == 1);
  CHECK(FakeNvml::instance().calls["DeviceGetHandleByUUID"] == 2);
}

TEST_CASE("without NVML, or with a GPU it does not know, the process is read") {
  const auto records_of_two_turns = [](Sampler& s, const char* uuid) {
    s.sampler.add_gpu(0, uuid);
    s.turns(2);
    s.sampler.take(s.taken);
    REQUIRE_FALSE(s.taken.empty());
    CHECK(std::all_of(s.taken.begin(), s.taken.end(),
                      [](const ConditionRecord& record) { return record.subject == ConditionOf::process; }));
  };
  Sampler without(&FakeNvml::none), unknown, too_long;

  records_of_two_turns(without, FakeNvml::kUuid);
  records_of_two_turns(unknown, "GPU-unknown");
  records_of_two_turns(too_long, std::string(500, 'x').c_str());
}

TEST_CASE("GPUs beyond the bound are ignored") {
  Sampler s;
  for (std::uint32_t i = 0; i < ConditionSampler::kMaxGpus + 5; ++i) s.sampler.add_gpu(i, FakeNvml::kUuid);

  s.turns(1);

  CHECK(s.gpu_records().size() == ConditionSampler::kMaxGpus);
}

TEST_CASE("after forget() the next turn's records are complete, with values of earlier turns") {
  Sampler s;
  s.sampler.add_gpu(kGpu, FakeNvml::kUuid);
  s.turns(10);
  (void)s.gpu_records();

  s.sampler.forget();
  s.turns(1);

  const auto records = s.gpu_records();
  REQUIRE(records.size() == 1);
  CHECK(value_of(records[0].values, Condition::sm_mhz) == 1980);
  CHECK(value_of(records[0].values, Condition::temperature_c) == 41);
  CHECK(value_of(records[0].values, Condition::mig) == 0);
}

TEST_CASE("after resume() records are complete, without values from before the pause") {
  Sampler s;
  s.sampler.add_gpu(kGpu, FakeNvml::kUuid);
  s.turns(10);
  (void)s.gpu_records();

  s.sampler.pause();
  s.sampler.resume();
  s.turns(1);

  const auto records = s.gpu_records();
  REQUIRE(records.size() == 1);
  CHECK(value_of(records[0].values, Condition::sm_mhz) == 1980);
  CHECK_FALSE(value_of(records[0].values, Condition::temperature_c));
}

TEST_CASE("a full log loses records and counts them, and what follows is complete") {
  Sampler s;
  s.sampler.add_gpu(kGpu, FakeNvml::kUuid);
  for (unsigned i = 0; i < ConditionSampler::kMaxRecords + 50; ++i) {
    FakeNvml::instance().sm_mhz = 1000 + i;
    s.turns(1);
  }
  const std::uint64_t lost_before = s.sampler.lost();
  s.turns(50);  // nothing changes, except that the process uses some time
  const std::uint64_t lost = s.sampler.lost();
  CHECK(lost < lost_before + 25);
  s.sampler.take(s.taken);
  CHECK(s.taken.size() == ConditionSampler::kMaxRecords);
  CHECK(lost >= 50);

  s.turns(1);
  const auto records = s.gpu_records();

  REQUIRE(records.size() == 1);
  CHECK(value_of(records[0].values, Condition::power_w) == 350);
  CHECK(value_of(records[0].values, Condition::power_limit_w) == 700);
  CHECK(s.sampler.lost() == lost);
}

TEST_CASE("a busy thread of the program is in the log") {
  FakeNvml::reset();
  ConditionSampler sampler({&fake_unix_ns, false, &FakeNvml::none, {}});
  const auto has_time = [&sampler] {
    std::vector<ConditionRecord> records;
    sampler.take(records);
    return std::any_of(records.begin(), records.end(), [](const ConditionRecord& record) {
      return record.subject == ConditionOf::thread && record.id == static_cast<std::uint32_t>(gettid());
    });
  };
  const std::uint64_t until_ns = thread_cpu_ns() + 30'000'000;
  while (thread_cpu_ns() < until_ns) {
  }

  sampler.turn(1);
  CHECK(has_time());
  sampler.turn(2);  // no scan is due
  CHECK_FALSE(has_time());
}

TEST_CASE("a missed deadline is skipped") {
  constexpr std::int64_t kPeriod = ConditionSampler::kPeriodNs;

  CHECK(ConditionSampler::next_deadline_ns(0, 5) == kPeriod);
  CHECK(ConditionSampler::next_deadline_ns(0, kPeriod - 1) == kPeriod);
  CHECK(ConditionSampler::next_deadline_ns(0, kPeriod) == 2 * kPeriod);
  CHECK(ConditionSampler::next_deadline_ns(0, 7 * kPeriod + 3) == 8 * kPeriod);
  CHECK(ConditionSampler::next_deadline_ns(50, 0) == kPeriod + 50);
}

TEST_CASE("the thread reads until it is stopped, and none while it is paused") {
  Sampler s;
  s.sampler.pause();
  s.sampler.add_gpu(kGpu, FakeNvml::kUuid);
  REQUIRE(s.sampler.start());
  CHECK(s.sampler.cpu_ns() == 0);

  s.sampler.resume();
  CHECK(waited_until([&s] { return !s.gpu_records().empty(); }));
  CHECK(waited_until([&s] { return s.sampler.cpu_ns() != 0; }));
  s.sampler.pause();
  REQUIRE(s.sampler.stop(kPatience));

  CHECK(s.sampler.errors() == 0);
  CHECK(s.sampler.lost() == 0);
}

TEST_CASE("an exception in a turn is counted, and the thread goes on") {
  FakeNvml::reset();
  const FakeTree tree;
  ConditionSampler sampler(
      {[]() -> std::int64_t { throw std::bad_alloc(); }, false, &FakeNvml::none, tree.root()});

  REQUIRE(sampler.start());
  CHECK(waited_until([&sampler] { return sampler.errors() >= 2; }));

  CHECK(sampler.stop(kPatience));
}

TEST_CASE("a sampler that was not started is stopped at once") {
  Sampler s;

  CHECK(s.sampler.stop(kPatience));
}

TEST_CASE("stop() does not wait for a call that hangs longer than its patience") {
  static std::atomic<bool> inside{false}, release{false};
  const FakeTree tree;
  ConditionSampler sampler({[]() -> std::int64_t {
                              inside = true;
                              release.wait(false);
                              return 0;
                            },
                            false, &FakeNvml::none, tree.root()});
  REQUIRE(sampler.start());
  REQUIRE(waited_until([] { return inside.load(); }));

  CHECK_FALSE(sampler.stop(std::chrono::milliseconds(1)));

  release = true;
  release.notify_all();
  CHECK(sampler.stop(kPatience));
}

}  // namespace
}  // namespace rangefinder
