// SPDX-License-Identifier: Apache-2.0
//
// Functions of the host in findings, the opening and sections.
#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/unit/analysis/findings/findings_trace.h"
#include "tests/unit/analysis/queries/made_stacks.h"
#include "tests/unit/analysis/queries/section_run.h"
#include "tools/analysis/report/run_summary.h"

using namespace rangefinder;
using namespace rangefinder::test;

namespace {

constexpr TimeNs kMs = 1'000'000;
const MadeFrame kTrainFrame{"train", "/app/train.py", 30}, kLoadFrame{"Images.load", "/app/data.py", 41},
    kModelFrame{"Module.__call__", "/opt/lib/python3.11/site-packages/torch/nn/modules/module.py", 9};

struct StackedTrace : MadeTrace {
  MadeStacks stacks;

  std::uint32_t stack(std::initializer_list<MadeFrame> frames) {
    const std::size_t first = stacks.records.size();
    const std::uint32_t out = stacks.stack(frames);
    for (std::size_t i = first; i < stacks.records.size(); ++i)
      std::visit([this](const auto& record) { put(record); }, stacks.records[i]);
    return out;
  }
};

/// Ten iterations of 20 ms: 10 ms in step/data, a kernel of 8 ms from 10.01 ms on. A sample every ms.
struct LoadingTrace : StackedTrace {
  std::uint32_t load = 0, train = 0;

  /// `samples`: of ten iterations, 200.
  explicit LoadingTrace(std::size_t samples = 200) {
    const std::uint32_t step = add_path("step"), data = add_path("data", step);
    const std::uint32_t name = add_name("busy()"), config = add_config(grid_of(264, 128));
    load = stack({kTrainFrame, kLoadFrame});
    train = stack({kTrainFrame, kModelFrame});
    repeat(10, [&](TimeNs at) {
      add_range(data, at, at + 10 * kMs);
      add(step, name, config, at + 10 * kMs + 10'000, 8 * kMs);
      return at + 20 * kMs;
    });
    StackSampleRecord record{kMs, kMs, kThread, kMs, {}};
    for (std::uint32_t i = 0; i < samples; ++i) {
      record.samples.push_back({i * 1000, i % 20 < 10 ? load : train});
      record.end_ns += kMs;
    }
    if (samples != 0) put(record);
    StackSampleRecord other{kMs, 21 * kMs, 99, kMs, {}};  // of a thread that launches nothing
    for (std::uint32_t i = 0; i < 20; ++i) other.samples.push_back({i * 1000, train});
    put(other);
  }
};

RunSummary summary_of(const MadeTrace& made) {
  made.write();
  WholeTrace trace(open_trace_folder(made.folder.path()), RunSummaryReader::kColumns);
  return run_summary_of(trace);
}

}  // namespace

TEST_CASE("a finding about idle time in a range names the function") {
  const Finding finding = required(LoadingTrace().found(), "idle_in_range");

  REQUIRE(finding.where == "step/data");
  REQUIRE(finding.function);
  CHECK(finding.function->function.text() == "data.py:41 Images.load");
  CHECK(finding.function->share(finding.function->function) == Approx(1));
  CHECK(finding.why.find(" Host code: data.py:41 Images.load (100 % of that time, of 80 samples).") !=
        std::string::npos);
  const auto json = findings_json({finding})[0]["function"];
  CHECK(json["file"] == "/app/data.py");
  CHECK(json["line"] == 41);
  CHECK(json["all_samples"] == 80);
}

TEST_CASE("a finding without samples of stacks is as before") {
  LoadingTrace trace(0);
  trace.lines.pop_back();  // the other thread's

  const Finding finding = required(trace.found(), "idle_in_range");

  CHECK_FALSE(finding.function);
  CHECK(finding.why.find("Host code") == std::string::npos);
  CHECK_FALSE(findings_json({finding})[0].contains("function"));
}

TEST_CASE("samples of other threads do not count") {
  CHECK_FALSE(required(LoadingTrace(0).found(), "idle_in_range").function);
}

TEST_CASE("for a thread without Python the main thread's samples count, as in PyTorch's backward passes") {
  LoadingTrace trace;
  const std::string main_thread = "\"thread\":" + std::to_string(MadeTrace::kThread);
  for (std::string& line : trace.lines) {
    const std::size_t at = line.find(main_thread);
    if (line.find("\"t\":\"launch\"") != std::string::npos && at != std::string::npos)
      line.replace(at, main_thread.size(), "\"thread\":4800");
  }
  REQUIRE(header().pid == MadeTrace::kThread);

  const Finding finding = required(trace.found(), "idle_in_range");

  CHECK(finding.where.empty());
  REQUIRE(finding.function);
  CHECK(finding.function->function.text() == "data.py:41 Images.load");
  CHECK(summary_of(trace).host_code);
}

TEST_CASE("the opening names the function of host code with its share of the samples in it") {
  const RunSummary run = summary_of(LoadingTrace());

  REQUIRE(run.host_code);
  CHECK(run.host_code->function.text() == "data.py:41 Images.load");
  // An iteration is idle from 18.01 to 30.01 ms: 10 of 12 samples, 9 iterations without the warm-up. Before
  // the first iteration that counts lies the end of the warm-up.
  CHECK(run.host_code->share(run.host_code->function) == Approx(10.0 / 12).epsilon(0.02));
  CHECK(run_summary_json(run)["host_code"]["function"] == "Images.load");
}

TEST_CASE("the opening names no function of fewer than ten samples") {
  CHECK_FALSE(summary_of(LoadingTrace(25)).host_code);
}

TEST_CASE("a finding about late launches names the function between them") {
  StackedTrace trace;
  const std::uint32_t step = trace.add_path("step"), name = trace.add_name("short()");
  const std::uint32_t config = trace.add_config(grid_of(264, 128));
  const std::uint32_t model = trace.stack({kTrainFrame, kModelFrame});
  trace.repeat(10, [&](TimeNs at) {
    for (int i = 0; i < 100; ++i) trace.add(step, name, config, at + 10'000 + i * 25'000, 5'000);
    return at + 2'600'000;
  });
  trace.put(samples_of(MadeTrace::kThread, kMs, 10'000, 2600, model));

  const Finding finding = required(trace.found(), "launch_bound");

  REQUIRE(finding.function);
  CHECK(finding.function->function.text() == "train.py:30 train");
  CHECK(finding.function->all.samples > 1000);
  CHECK(finding.why.find("Host code: train.py:30 train (100 % of that time).") != std::string::npos);
}

/// Of ten iterations of 20 ms, in which the GPU waits for 12 ms and the host is in one stack.
Finding idle_in(std::initializer_list<MadeFrame> frames) {
  StackedTrace trace;
  const std::uint32_t step = trace.add_path("step"), name = trace.add_name("busy()");
  const std::uint32_t config = trace.add_config(grid_of(264, 128)), stack = trace.stack(frames);
  trace.repeat(10, [&](TimeNs at) {
    trace.add(step, name, config, at + 10 * kMs, 8 * kMs);
    return at + 20 * kMs;
  });
  trace.put(samples_of(MadeTrace::kThread, kMs, 1'000'000, 200, stack));
  return required(trace.found(), "idle_in_range");
}

TEST_CASE("the next step follows from what the function does") {
  CHECK(idle_in({kTrainFrame, kLoadFrame}).next_step.starts_with("do this host work in other threads"));
  CHECK(idle_in({kTrainFrame, kLoadFrame, {"(garbage collection)", "", 0}})
            .next_step.starts_with("let each collection look at fewer objects"));
  CHECK(idle_in({kTrainFrame, {"_find_and_load", "<frozen importlib._bootstrap>", 1176}})
            .next_step.starts_with("import them at the start"));
  CHECK(idle_in({kTrainFrame, {"Condition.wait", "/usr/lib/python3.11/threading.py", 327}})
            .next_step.starts_with("shorten what the other thread"));
}

TEST_CASE("a finding about waits for workers of a DataLoader says what to do") {
  const std::string loader = "/opt/lib/python3.11/site-packages/torch/utils/data/dataloader.py";

  const Finding finding =
      idle_in({kTrainFrame, {"_MultiProcessingDataLoaderIter._try_get_data", loader, 1284}});

  CHECK(
      finding.why.find("The process waits for the workers of the DataLoader (_MultiProcessingDataLoaderIter) "
                       "that train.py:30 iterates;") != std::string::npos);
  CHECK(finding.next_step == "give the DataLoader more workers, or make what they do cheaper");
  CHECK(findings_json({finding})[0]["function"]["waits_for_workers"] == true);
}

TEST_CASE("the function that launches work outside of ranges is named") {
  StackedTrace trace;
  const std::uint32_t name = trace.add_name("busy()");
  const std::uint32_t config = trace.add_config(grid_of(264, 128));
  const std::uint32_t load = trace.stack({kTrainFrame, kLoadFrame}),
                      train = trace.stack({kTrainFrame, kModelFrame});
  StackSampleRecord record{kMs, kMs, MadeTrace::kThread, kMs, {}};
  for (int i = 0; i < 10; ++i) {  // ranges of different names: no iterations
    const TimeNs at = kMs + i * 20 * kMs;
    trace.add_range(trace.add_path(std::string(1, static_cast<char>('a' + i))), at, at + 10 * kMs);
    trace.add(0, name, config, at + 11 * kMs, 8 * kMs);
  }
  for (std::uint32_t i = 0; i < 200; ++i) {
    record.samples.push_back({i * 1000, i % 20 < 10 ? load : train});
    record.end_ns += kMs;
  }
  trace.put(record);

  const RunSummary run = summary_of(trace);

  REQUIRE(run.coverage.function);
  CHECK(run.coverage.function->function.text() == "train.py:30 train");
  CHECK(run.coverage.function->share(run.coverage.function->function) > 0.9);
  CHECK(coverage_text(run.coverage).find("Outside of ranges the host is in train.py:30 train (") !=
        std::string::npos);
  CHECK(coverage_json(run.coverage)["function"]["line"] == 30);
}

TEST_CASE("the section idle has the functions of own code in gaps, by range and in all") {
  const LoadingTrace trace;
  trace.write();
  const SectionRun run("idle", trace.folder.path());

  // Nine gaps from 18.01 to 30.01 ms, with a sample at each ms.
  run.check("idle_functions", {{"function", "Images.load"}},
            {{"samples", 90},
             {"share", Approx(90.0 / 108)},
             {"ns", 90e6},
             {"self_ns", 90e6},
             {"source", "data.py:41"}});
  run.check("idle_functions", {{"function", "train"}}, {{"samples", 18}, {"self_ns", 0}});
  run.check("idle", {{"path", "step/data"}}, {{"own_code_in", "data.py:41 Images.load (100.0 %)"}});
  CHECK(run.table("idle").remarks.find(
            "Own code: data.py:41 Images.load (83 % of that time, of 108 samples).") != std::string::npos);
}

TEST_CASE("the section stacks has functions by thread, with idle and busy time and the module") {
  const LoadingTrace trace;
  trace.write();
  const SectionRun run("stacks", trace.folder.path());

  run.check("stacks", {{"function", "Images.load"}},
            {{"self_ns", 100e6},
             {"total_ns", 100e6},
             {"total_share", 0.5},
             {"module", "step/data"},
             {"samples", 100},
             {"idle_ns", 90e6},
             {"busy_ns", 0}});
  // 8 samples of an iteration are during its kernel.
  run.check("stacks", {{"function", "train"}, {"samples", "200"}},
            {{"self_ns", 0}, {"total_ns", 200e6}, {"busy_ns", 80e6}, {"source", "train.py:30"}});
  CHECK(run.number("stacks", {{"function", "Module.__call__"}, {"samples", "20"}}, "total_share") == 1);

  const nlohmann::ordered_json tree = run.made->json(run.input())["stacks_tree"];
  std::uint64_t self_ns = 0, total_ns = 0;
  for (const auto& node : tree) {
    self_ns += node["self_ns"].get<std::uint64_t>();
    if (node["caller"] == 0) total_ns += node["total_ns"].get<std::uint64_t>();
    CHECK(node["caller"] < node["id"]);
  }
  CHECK(self_ns == 220'000'000);
  CHECK(total_ns == 220'000'000);
}

TEST_CASE("a function that calls itself counts once in the section stacks") {
  StackedTrace trace;
  const std::uint32_t stack = trace.stack({kTrainFrame, kLoadFrame, kLoadFrame});
  trace.put(samples_of(MadeTrace::kThread, kMs, 1'000'000, 10, stack));
  trace.write();
  const SectionRun run("stacks", trace.folder.path());

  run.check("stacks", {{"function", "Images.load"}},
            {{"total_ns", 10e6}, {"self_ns", 10e6}, {"samples", 10}});
}

TEST_CASE("the section stacks selects samples by --window and by --range") {
  const LoadingTrace trace;
  trace.write();

  SelectionOptions window;
  window.window = {kMs, 21 * kMs};  // an iteration
  const SectionRun in_window("stacks", trace.folder.path(), {}, window);
  in_window.check("stacks", {{"function", "Images.load"}}, {{"samples", 10}});

  SelectionOptions range;
  range.range = "step/data";
  SectionView view;
  view.range = range.range;
  const SectionRun in_range("stacks", trace.folder.path(), view, range);
  in_range.check("stacks", {{"function", "train"}}, {{"samples", 100}});
}

TEST_CASE("a trace without stacks has an empty section stacks and no table of functions") {
  LoadingTrace trace(0);
  trace.lines.pop_back();
  std::erase_if(trace.lines,
                [](const std::string& line) { return line.find("\"t\":\"stack\"") != std::string::npos; });
  trace.write();

  CHECK(SectionRun("stacks", trace.folder.path()).table("stacks").rows.empty());
  const SectionRun idle("idle", trace.folder.path());
  CHECK(idle.tables.size() == 2);
  CHECK(idle.shown().find("own code is in") == std::string::npos);
}
