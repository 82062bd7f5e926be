// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/condition_input.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "profiler/conditions/condition_value.h"
#include "tests/catch.h"
#include "tests/unit/conditions/fake_nvml.h"
#include "tests/unit/conditions/fake_tree.h"
#include "tests/unit/output/written_trace.h"

namespace rangefinder {
namespace {

using test::FakeNvml;
using test::FakeTree;

constexpr std::int64_t kBase = 1'700'000'000'000'000'000;
std::int64_t trace_unix_ns = kBase;
std::int64_t fake_trace_ns() {
  return trace_unix_ns;
}

GpuRecord fake_gpu() {
  GpuRecord gpu;
  gpu.id = 0;
  gpu.name = "NVIDIA H200";
  gpu.uuid = FakeNvml::kUuid;
  return gpu;
}

struct Recorded {
  Recorded() {
    FakeNvml::reset();
    trace_unix_ns = kBase;
    Header header = test::header();
    header.base_unix_ns = kBase;
    REQUIRE(trace.open((folder.path() / "trace").string(), header, {fake_gpu()}));
    input.begin();
  }
  void turn(bool records = true) {
    trace_unix_ns += ConditionSampler::kPeriodNs;
    sampler.turn(now_ns += ConditionSampler::kPeriodNs);
    input.turn(records, recorder->loss);
  }
  /// The `condition` lines of GPUs in all segments.
  std::vector<ConditionRecord> gpu_lines() {
    trace.finish({.now_ns = trace_unix_ns, .own_cost = {}, .loss = {}}, "exit");
    std::vector<ConditionRecord> out;
    for (const ConditionRecord& record : test::WrittenTrace(folder.path() / "trace").all<ConditionRecord>()) {
      if (record.subject == ConditionOf::gpu) out.push_back(record);
    }
    return out;
  }

  test::TemporaryFolder folder;
  FakeTree tree;
  std::unique_ptr<Recorder> recorder = std::make_unique<Recorder>();
  const Options options = read_options(nullptr);
  TraceFiles trace{*recorder, options, nullptr};
  ConditionSampler sampler{{&fake_trace_ns, false, &FakeNvml::functions, tree.root()}};
  ConditionInput input{&sampler, trace};
  std::int64_t now_ns = 0;
};

TEST_CASE("a GPU has lines from its first context on, with times of the trace") {
  Recorded run;
  run.turn();
  CHECK(run.trace.records() > 0);  // of the process
  run.trace.builder().on_context({1, 0, 7, false});
  run.turn();
  run.turn();
  const auto lines = run.gpu_lines();
  REQUIRE(!lines.empty());
  CHECK(lines[0].at_ns == 3 * ConditionSampler::kPeriodNs);
  CHECK(value_of(lines[0].values, Condition::sm_mhz) == 1980);
}

TEST_CASE("each segment has complete values, and between monitor mode's windows there are none") {
  Recorded run;
  run.trace.builder().on_context({1, 0, 7, false});
  for (int i = 0; i < 12; ++i) run.turn();
  run.trace.on_counters_refused("no permission");  // begins a segment with the next line
  FakeNvml::instance().sm_mhz = 1500;
  for (int i = 0; i < 3; ++i) run.turn();
  FakeNvml::instance().sm_mhz = 1400;
  run.turn(false);
  for (int i = 0; i < 3; ++i) run.turn();
  const auto lines = run.gpu_lines();
  const auto complete = [](const ConditionRecord& line) {
    return value_of(line.values, Condition::memory_mhz) && value_of(line.values, Condition::power_limit_w);
  };
  REQUIRE(lines.size() > 2);
  CHECK(complete(lines.back()));
  CHECK(value_of(lines.back().values, Condition::sm_mhz) == 1400);
  const auto of_second = std::find_if(lines.begin(), lines.end(), [&](const ConditionRecord& line) {
    return value_of(line.values, Condition::sm_mhz) == 1500 && complete(line);
  });
  CHECK(of_second != lines.end());
}

TEST_CASE("readings that had no room are a loss") {
  Recorded run;
  run.trace.builder().on_context({1, 0, 7, false});
  run.turn();
  for (std::size_t i = 0; i < ConditionSampler::kMaxRecords + 5; ++i) {
    trace_unix_ns += ConditionSampler::kPeriodNs;
    FakeNvml::instance().sm_mhz = i % 2 == 0 ? 1500 : 1600;
    run.sampler.turn(run.now_ns += ConditionSampler::kPeriodNs);
  }
  run.input.turn(true, run.recorder->loss);
  CHECK(run.recorder->loss.get(Loss::conditions_lost) > 0);
}

}  // namespace
}  // namespace rangefinder
