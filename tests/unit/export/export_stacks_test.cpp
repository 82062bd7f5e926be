// SPDX-License-Identifier: Apache-2.0
//
// Host stacks in exports, where a recording would not have the case: gaps, recursion, lost and damaged lines.
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tools/analysis/model/stack_names.h"
#include "tools/export/export_format.h"

using namespace rangefinder;
using namespace rangefinder::test;

namespace {

constexpr std::uint32_t kThread = 4711, kIntervalNs = 10'000'000;

/// A slice of the row of stacks; times in milliseconds.
struct Slice {
  std::string name, source;
  double start, end;
  std::size_t depth;
  bool operator==(const Slice&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Slice& slice) {
  return out << slice.name << " (" << slice.source << ") " << slice.start << " to " << slice.end << ", depth "
             << slice.depth;
}

/// Samples from `start_ms` on, ten milliseconds each unless `after_ms` says otherwise.
StackSampleRecord samples(std::uint32_t start_ms,
                          const std::vector<std::pair<std::uint32_t, std::uint32_t>>& after_ms) {
  StackSampleRecord out{TimeNs{start_ms} * 1'000'000, 0, kThread, kIntervalNs, {}};
  for (const auto& [ms, stack] : after_ms) out.samples.push_back({ms * 1'000, stack});
  out.end_ns = out.start_ns + TimeNs{after_ms.back().first} * 1'000'000 + kIntervalNs;
  return out;
}

/// TraceOnDisk with stacks: 1 is main, 2 main > load, 3 main > load > read, 4 main at another line > step.
struct StacksOnDisk {
  StacksOnDisk() {
    trace.lines.resize(TraceOnDisk::kLaunch1);
    for (const FrameRecord& frame :
         {FrameRecord{1, "main", "app.py", 10}, FrameRecord{2, "load", "data.py", 20},
          FrameRecord{3, "read", "data.py", 30}, FrameRecord{4, "main", "app.py", 11},
          FrameRecord{5, "step", {}, 0}})
      trace.lines.push_back(line_of(frame));
    for (const StackRecord& stack : {StackRecord{1, 0, 1}, StackRecord{2, 1, 2}, StackRecord{3, 2, 3},
                                     StackRecord{4, 0, 4}, StackRecord{5, 4, 5}})
      trace.lines.push_back(line_of(stack));
  }
  StacksOnDisk& add(const StackSampleRecord& record) {
    trace.lines.push_back(line_of(record));
    return *this;
  }
  /// The content of the only file of an export.
  nlohmann::json exported(ExportResult (*write)(const ExportRequest&)) const {
    trace.write();
    ExportRequest request;
    request.traces = find_traces(trace.folder.path());
    request.out = trace.folder.path() / "out.json";
    request.overwrite = Overwrite::yes;
    (void)write(request);
    std::ifstream in(request.out);
    return nlohmann::json::parse(in);
  }
  TraceOnDisk trace;
};

/// The slices of the row of stacks, in the order of their starts. Checks that they nest in the order of the
/// file, and that times never go back.
std::vector<Slice> slices_of(const StacksOnDisk& trace) {
  std::vector<Slice> out;
  std::vector<std::size_t> open;  // places in `out`
  double last = 0;
  for (const auto& event : trace.exported(export_perfetto)) {
    if (event.value("cat", "") != "host_stack") continue;
    const double at = event["ts"].get<double>() / 1'000;
    CHECK(at >= last);
    last = at;
    if (event["ph"] == "B") {
      open.push_back(out.size());
      out.push_back({event["name"], event["args"].value("source", ""), at, -1, open.size() - 1});
    } else {
      REQUIRE(event["ph"] == "E");
      REQUIRE(!open.empty());
      CHECK(out[open.back()].name == event["name"].get<std::string>());
      out[open.back()].end = at;
      open.pop_back();
    }
  }
  CHECK(open.empty());
  return out;
}

}  // namespace

TEST_CASE("a slice lasts as long as consecutive samples have its function at its depth") {
  struct Case {
    const char* what;
    std::vector<StackSampleRecord> lines;
    std::vector<Slice> slices;
  };
  const std::vector<Case> cases{
      {"one sample lasts an interval", {samples(0, {{0, 1}})}, {{"main", "app.py:10", 0, 10, 0}}},
      {"equal stacks are one slice",
       {samples(0, {{0, 2}, {10, 2}, {20, 2}})},
       {{"main", "app.py:10", 0, 30, 0}, {"load", "data.py:20", 0, 30, 1}}},
      {"an inner function comes and goes",
       {samples(0, {{0, 1}, {10, 3}, {20, 2}, {30, 1}})},
       {{"main", "app.py:10", 0, 40, 0},
        {"load", "data.py:20", 10, 30, 1},
        {"read", "data.py:30", 10, 20, 2}}},
      {"another line of a function does not end its slice",
       {samples(0, {{0, 2}, {10, 5}})},
       {{"main", "app.py:10", 0, 20, 0}, {"load", "data.py:20", 0, 10, 1}, {"step", "", 10, 20, 1}}},
      {"a missing sample ends all slices",
       {samples(0, {{0, 2}, {30, 2}})},
       {{"main", "app.py:10", 0, 10, 0},
        {"load", "data.py:20", 0, 10, 1},
        {"main", "app.py:10", 30, 40, 0},
        {"load", "data.py:20", 30, 40, 1}}},
      {"a late sample does not", {samples(0, {{0, 1}, {16, 1}})}, {{"main", "app.py:10", 0, 26, 0}}},
      {"slices go on in the next line",
       {samples(0, {{0, 1}, {10, 2}}), samples(20, {{0, 2}})},
       {{"main", "app.py:10", 0, 30, 0}, {"load", "data.py:20", 10, 30, 1}}},
      {"samples that go back in time nest",
       {samples(20, {{0, 2}}), samples(0, {{0, 1}})},
       {{"main", "app.py:10", 20, 30, 0}, {"load", "data.py:20", 20, 20, 1}}},
      {"a stack without a line is unknown", {samples(0, {{0, 99}})}, {{"(unknown)", "", 0, 10, 0}}}};
  for (const Case& one : cases) {
    INFO(one.what);
    StacksOnDisk trace;
    for (const StackSampleRecord& line : one.lines) trace.add(line);

    CHECK(slices_of(trace) == one.slices);
  }
}

TEST_CASE("each thread with stacks has a row of its own") {
  StacksOnDisk trace;
  StackSampleRecord other = samples(0, {{0, 1}});
  other.thread = 4712;
  trace.add(samples(0, {{0, 1}})).add(other);

  std::map<int, std::string> names;
  std::map<int, int> slices;
  for (const auto& event : trace.exported(export_perfetto)) {
    if (event["name"] == "thread_name") names[event["tid"]] = event["args"]["name"];
    if (event["ph"] == "B") ++slices[event["tid"]];
  }

  REQUIRE(slices.size() == 2);
  CHECK(names[slices.begin()->first] == "thread 4711 stacks");
  CHECK(names[slices.rbegin()->first] == "thread 4712 stacks");
}

TEST_CASE("speedscope has a profile for each thread, weighted by the interval of each line") {
  StacksOnDisk trace;
  trace.trace.lines.push_back(line_of(ThreadRecord{kThread, "main"}));
  StackSampleRecord slower = samples(100, {{0, 2}});
  slower.interval_ns = 2 * kIntervalNs;
  slower.end_ns += kIntervalNs;
  trace.add(samples(0, {{0, 2}, {10, 2}, {20, 5}})).add(slower);

  const auto content = trace.exported(export_speedscope);

  const auto& profile = content["profiles"].back();
  CHECK(profile["name"] == "host thread 4711 (main)");
  CHECK(profile["unit"] == "nanoseconds");
  CHECK(profile["weights"] == nlohmann::json{40'000'000, 10'000'000});
  std::vector<nlohmann::json> frames;
  for (const auto& frame : profile["samples"][0])
    frames.push_back(content["shared"]["frames"][frame.get<std::size_t>()]);
  CHECK(frames == std::vector<nlohmann::json>{{{"name", "main"}, {"file", "app.py"}, {"line", 10}},
                                              {{"name", "load"}, {"file", "data.py"}, {"line", 20}}});
}

TEST_CASE("a stack whose caller is lost or impossible ends there, and a deep one at the maximum") {
  StackNames names;
  names.add(StackRecord{5, 4, 1});  // 4 has no line
  names.add(StackRecord{6, 7, 2});  // 6 and 7 call each other
  names.add(StackRecord{7, 6, 3});
  for (std::uint32_t id = 100; id < 400; ++id) names.add(StackRecord{id, id - 1, id});
  std::vector<std::uint32_t> frames;

  names.frames_of(5, frames);
  CHECK(frames == std::vector<std::uint32_t>{0, 1});
  names.frames_of(7, frames);
  CHECK(frames == std::vector<std::uint32_t>{2, 3});
  names.frames_of(399, frames);
  CHECK(frames.size() == kMaxStackDepth);
  CHECK(frames.back() == 399);
}

TEST_CASE("a damaged stack breaks no format") {
  StacksOnDisk trace;
  trace.trace.lines.push_back(line_of(StackRecord{6, 7, 99}));
  trace.trace.lines.push_back(line_of(StackRecord{7, 6, 1}));
  trace.add(samples(0, {{0, 6}, {10, 7}, {20, 0}}));
  trace.trace.write();
  for (const ExportFormat& format : export_formats()) {
    ExportRequest request;
    request.traces = find_traces(trace.trace.folder.path());
    request.out = trace.trace.folder.path() / ("out." + std::string(format.name));
    CHECK_NOTHROW(format.write(request));
  }
}
