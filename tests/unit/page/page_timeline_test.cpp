// SPDX-License-Identifier: Apache-2.0
//
// The page's timeline: where it opens, what nodes of graphs, idle time and stacks of the host are in it.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tests/unit/page/recorded_page.h"
#include "tools/analysis/report/run_summary.h"
#include "tools/page/page_data.h"

namespace rangefinder {
namespace {

using Json = nlohmann::ordered_json;

Json timeline_of(const TraceFolder& files, const PageLimits& limits = {}) {
  WholeTrace trace(files, kPageColumns);
  return page_data(trace, limits).timeline;
}

Json timeline_of(const test::TraceOnDisk& on_disk) {
  on_disk.write();
  return timeline_of(find_traces(on_disk.folder.path()).at(0));
}

}  // namespace

TEST_CASE("the timeline opens on the iteration whose wall time is nearest to the report's median") {
  for (const char* const name : {"rtdetr_sampled", "decoder_sampled", "case_starved_one"}) {
    INFO(name);
    const TraceFolder files = open_trace_folder(test::recorded(name));
    const Json& open = test::recorded_page(name).timeline.at("open");
    WholeTrace trace(files, RunSummaryReader::kColumns);
    const auto median = static_cast<double>(run_summary_of(trace).wall_ns);
    const test::SectionRun section("iterations", test::recorded(name));
    const Json rows = section.made->json(section.input())["iterations"];
    const std::string why = open["why"];
    const std::size_t number = std::stoul(why.substr(why.rfind(' ') + 1));

    const auto distance = [median](const Json& row) {
      return std::abs(row["wall_ns"].get<double>() - median);
    };
    for (const Json& row : rows) {
      if (row["iteration"] == number) continue;
      if (row.contains("warm_up")) continue;
      CHECK(distance(rows[number]) <= distance(row));
    }
    const auto length = open["end_ns"].get<std::int64_t>() - open["start_ns"].get<std::int64_t>();
    CHECK(length >= rows[number]["wall_ns"].get<std::int64_t>());
    CHECK(length <= 2 * rows[number]["wall_ns"].get<std::int64_t>());
  }
}

TEST_CASE("without iterations the timeline opens on all GPU work") {
  test::TraceOnDisk on_disk;
  const Json open = timeline_of(on_disk)["open"];

  CHECK(open["why"] == "all GPU work");
  CHECK(open["start_ns"].get<std::int64_t>() < open["end_ns"].get<std::int64_t>());
}

TEST_CASE("a node of a graph has the range in which it was captured, other work has none") {
  test::TraceOnDisk on_disk;
  KernelRecord node = test::kernel(7, 1, 9'000, 9'500, 1);
  node.work.graph = 4;
  node.work.range = 21;
  KernelRecord plain = test::kernel(8, 1, 9'600, 9'700, 1);
  plain.work.range = 22;
  on_disk.lines = {test::line_of(test::header()),
                   test::line_of(test::gpu()),
                   test::line_of(test::path(1, 0, "step")),
                   test::line_of(test::kernel_name(1, "gemm")),
                   test::line_of(test::config(1)),
                   test::line_of(node),
                   test::line_of(plain)};

  const Json pieces = timeline_of(on_disk)["lanes"][0]["pieces"];

  // Differences: 21, then 0.
  CHECK(pieces["range"] == Json({21, -21}));
}

TEST_CASE("the longest parts of idle time are in the timeline, the others are counted") {
  const TraceFolder files = open_trace_folder(test::recorded("rtdetr_sampled"));
  PageLimits limits;
  limits.idle = 1'000'000;
  const Json all = timeline_of(files, limits)["idle"];
  limits.idle = 10;
  const Json some = timeline_of(files, limits)["idle"];

  REQUIRE(all["ns"].size() > 100);
  CHECK(all["left_out"] == 0);
  CHECK(some["ns"].size() == 10);
  CHECK(some["left_out"] == all["ns"].size() - 10);
  std::vector<std::int64_t> longest = all["ns"];
  std::sort(longest.rbegin(), longest.rend());
  for (const Json& ns : some["ns"]) CHECK(ns.get<std::int64_t>() >= longest[9]);
}

TEST_CASE("samples of stacks are in the timeline, each stack with its caller and function") {
  test::TraceOnDisk on_disk;
  const std::vector<StackSample> samples{{0, 2}, {10, 1}, {20, 2}};
  on_disk.lines.insert(on_disk.lines.begin() + 2,
                       test::line_of(FrameRecord{1, "main", "app.py", 10}) +
                           test::line_of(FrameRecord{2, "load", "data.py", 20}) +
                           test::line_of(StackRecord{1, 0, 1}) + test::line_of(StackRecord{2, 1, 2}) +
                           test::line_of(StackSampleRecord{1'000, 31'000, 4711, 10'000, samples}));

  const Json stacks = timeline_of(on_disk)["stacks"];

  CHECK(stacks["functions"] == Json({"main", "load"}));
  CHECK(stacks["sources"] == Json({"app.py:10", "data.py:20"}));
  CHECK(stacks["caller"] == Json({0, 1}));
  CHECK(stacks["frame"] == Json({0, 1}));
  REQUIRE(stacks["threads"].size() == 1);
  const Json& thread = stacks["threads"][0];
  CHECK(thread["thread"] == 4711);
  CHECK(thread["interval_ns"] == 10'000);
  CHECK(thread["at"] == Json({1'000, 10'000, 10'000}));
  CHECK(thread["stack"] == Json({2, 1, 2}));
}

TEST_CASE("of more samples of stacks than the limit, each that stays stands for those that do not") {
  test::TraceOnDisk on_disk;
  std::vector<StackSample> samples;
  for (std::uint32_t i = 0; i < 100; ++i) samples.push_back({10 * i, 1});
  on_disk.lines.insert(on_disk.lines.begin() + 2,
                       test::line_of(FrameRecord{1, "main", "app.py", 10}) +
                           test::line_of(StackRecord{1, 0, 1}) +
                           test::line_of(StackSampleRecord{1'000, 1'001'000, 4711, 10'000, samples}));
  on_disk.write();
  PageLimits limits;
  limits.stacks = 30;

  const Json thread = timeline_of(find_traces(on_disk.folder.path()).at(0), limits)["stacks"]["threads"][0];

  CHECK(thread["stack"].size() == 25);
  CHECK(thread["interval_ns"] == 40'000);
}

TEST_CASE("clock and power of a GPU are in the timeline, and CPU time as a share of a core") {
  test::TraceOnDisk on_disk;
  const auto put = [&on_disk](ConditionRecord record, Condition condition, std::uint64_t value) {
    record.values[static_cast<std::size_t>(condition)] = value;
    on_disk.lines.push_back(test::line_of(record));
  };
  put({1'000, ConditionOf::gpu, 0, {}}, Condition::sm_mhz, 1980);
  put({1'000, ConditionOf::gpu, 0, {}}, Condition::power_w, 300);
  put({1'000, ConditionOf::process, 0, {}}, Condition::cpu_ms, 100);
  put({50'001'000, ConditionOf::process, 0, {}}, Condition::cpu_ms, 175);

  const Json conditions = timeline_of(on_disk)["conditions"];

  std::map<std::string, Json> by_title;
  for (const Json& one : conditions) by_title[one["title"]] = one;
  REQUIRE(by_title.size() == 3);
  CHECK(by_title["SM clock, MHz"]["value"] == Json({1980}));
  CHECK(by_title["SM clock, MHz"]["gpu"] == 0);
  CHECK(by_title["power, W"]["value"] == Json({300}));
  // 75 ms in 50 ms, then unknown.
  const Json& cpu = by_title["CPU, % of a core"];
  CHECK(cpu["value"] == Json({150, 0}));
  CHECK(cpu["at"] == Json({1'000, 50'000'000}));
  CHECK_FALSE(cpu.contains("gpu"));
}

}  // namespace rangefinder
