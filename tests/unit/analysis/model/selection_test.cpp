// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "tests/catch.h"
#include "tests/unit/analysis/model/read_once.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tools/analysis/model/missing.h"
#include "tools/analysis/model/selection.h"
#include "tools/analysis/model/trace.h"
#include "tools/analysis/model/trace_totals.h"

namespace rangefinder {
namespace {
using namespace test;

/// Three iterations of 1,000 ns, each with a kernel of `iteration/forward`, whose duration grows, and one of
/// `iteration/loss`. One kernel before them belongs to no iteration.
struct ThreeIterations : TraceOnDisk {
  explicit ThreeIterations(std::uint32_t scale = 1) {
    lines = {line_of(header()),
             line_of(gpu()),
             line_of(path(1, 0, "iteration")),
             line_of(path(2, 1, "forward")),
             line_of(path(3, 1, "loss")),
             line_of(kernel_name(1, "void gemm<float>(float*, int)")),
             line_of(kernel_name(2, "relu(int)")),
             line_of(config(1))};
    std::uint32_t correlation = 1;
    lines.push_back(line_of(kernel(correlation++, 0, 10, 20)));
    for (std::uint64_t i = 0; i < 3; ++i) {
      const auto start = static_cast<TimeNs>(1'000 * (i + 1));
      const std::uint64_t id = 10 * (i + 1);
      const TimeNs width = static_cast<TimeNs>(100 * scale * (i + 1));
      // The work ends long after the range that launched it, as on a GPU.
      lines.push_back(line_of(kernel(correlation++, 2, start + 950, start + 950 + width, id + 1)));
      KernelRecord loss = kernel(correlation++, 3, start + 1'000 + width, start + 1'010 + width, id + 2);
      loss.name = 2;
      lines.push_back(line_of(loss));
      lines.push_back(line_of(range(id + 1, 2, start + 10, start + 40)));
      lines.push_back(line_of(range(id + 2, 3, start + 50, start + 60)));
      lines.push_back(line_of(range(id, 1, start, start + 100)));
    }
    write();
  }
};

TraceTotals totals_of(const TraceOnDisk& trace, const SelectionOptions& options) {
  Trace rows(open_trace_folder(trace.folder.path()),
             {.columns = TotalsFold::kColumns | Selection::columns(options)});
  Selection selection(options, rows);
  return load_totals(rows, selection);
}

TEST_CASE("the range named iteration is found, and work belongs to the one that launched it") {
  const ThreeIterations trace;
  const Iterations found = find_iterations(open_trace_folder(trace.folder.path()), "");
  CHECK(found.path == "iteration");
  REQUIRE(found.instances.size() == 3);
  CHECK(found.at(500) == Iterations::kNone);
  // Starts in the third iteration's time, but was launched in the second.
  CHECK(found.of(kernel(9, 2, 3'005, 3'020, 21).work) == 1);
}

TEST_CASE("steps with numbered names are iterations of one range") {
  TraceOnDisk trace;
  trace.lines = {line_of(header()), line_of(gpu())};
  for (std::uint32_t i = 1; i <= 3; ++i) {
    trace.lines.push_back(line_of(path(i, 0, "ProfilerStep#" + std::to_string(i))));
    trace.lines.push_back(line_of(range(i, i, 100 * i, 100 * i + 50)));
  }
  trace.write();
  const Iterations found = find_iterations(open_trace_folder(trace.folder.path()), "");
  CHECK(found.path == "ProfilerStep#*");
  CHECK(found.instances.size() == 3);
}

TEST_CASE("an iteration glob matches the range itself, not the ranges below it") {
  const ThreeIterations trace;
  const TraceFolder files = open_trace_folder(trace.folder.path());
  CHECK(find_iterations(files, "*/loss").path == "iteration/loss");
  CHECK(find_iterations(files, "iteration").path == "iteration");
  CHECK_THROWS_AS(find_iterations(files, "missing"), Missing);
}

TEST_CASE("only the chosen iterations, paths, kernels or times count") {
  const ThreeIterations trace;
  SelectionOptions iterations, path, kernel, window;
  iterations.iterations = parse_iterations("1:3");
  path.range = "**/forward";  // and what is below
  kernel.kernel = "^relu";    // a regular expression over names
  window.window = parse_window("2us:3us");

  CHECK(totals_of(trace, iterations).kernels == 4);
  CHECK(totals_of(trace, iterations).ranges == 6);
  const TraceTotals rows = totals_of(trace, path);
  CHECK(rows.kernels == 7);  // a range selects rows
  REQUIRE(rows.rows().size() == 2);
  CHECK(rows.rows()[0].kernels == 3);
  CHECK(rows.rows()[1].kernels == 0);  // outside of any range
  CHECK(rows.selected().kernels()[0].count == 3);
  CHECK(totals_of(trace, kernel).kernels == 3);
  CHECK(totals_of(trace, window).kernels == 2);
  CHECK(totals_of(trace, {}).kernels == 7);
  CHECK(Selection().everything());
}

TEST_CASE("a window cuts work and ranges, and each counts where it began") {
  const ThreeIterations trace;
  SelectionOptions before, after;
  before.window = {std::nullopt, 2'000};
  after.window = {2'000, std::nullopt};
  const TraceTotals whole = totals_of(trace, {}), first = totals_of(trace, before),
                    rest = totals_of(trace, after);

  const auto row = [](const TraceTotals& totals, std::uint32_t path) {
    for (const PathTotals& one : totals.rows()) {
      if (one.path == path) return one;
    }
    return PathTotals();
  };
  CHECK(row(first, 2).gpu_ns == 50);  // of a kernel from 1,950 to 2,050
  CHECK(row(first, 2).kernels == 1);
  CHECK(row(rest, 2).gpu_ns == 50 + 200 + 300);
  CHECK(row(rest, 2).kernels == 2);
  for (const PathTotals& one : whole.rows()) {
    CHECK(row(first, one.path).gpu_busy_ns + row(rest, one.path).gpu_busy_ns == one.gpu_busy_ns);
    CHECK(row(first, one.path).host_ns + row(rest, one.path).host_ns == one.host_ns);
    CHECK(row(first, one.path).calls + row(rest, one.path).calls == one.calls);
  }
}

TEST_CASE(
    "work launched between two iterations belongs to none, that of a graph to the iteration of its launch") {
  ThreeIterations trace;
  LaunchRecord call;
  call.api = "cuGraphLaunch";
  call.correlation = 90;
  call.host = {2'050, 2'060, 7, 1, 20};
  trace.lines.push_back(line_of(range(50, 3, 1'500, 1'510)));
  trace.lines.push_back(line_of(call));
  trace.write();
  const Iterations found = find_iterations(open_trace_folder(trace.folder.path()), "");
  CHECK(found.of(kernel(9, 3, 1'520, 1'530, 50).work) == Iterations::kNone);
  CHECK(found.last_before(1'520) == 0);
  KernelRecord node = kernel(90, 3, 3'020, 3'030, 11);  // captured in the first, runs in the third
  node.work.graph = 1;
  node.work.captured = true;
  CHECK(found.of(node.work) == 1);
}

TEST_CASE("spans are parsed, and invalid ones are rejected") {
  CHECK(parse_iterations("10:").first == 10u);
  CHECK_FALSE(parse_iterations(":20").first);
  CHECK(parse_window("1.5s:2000ms").first == 1'500'000'000);
  CHECK(parse_window("0.5:").first == 500'000'000);
  for (const char* const text : {"", ":", "5", "a:b", "3:3", "5:2", "1e400:"}) {
    CHECK_THROWS_AS(parse_iterations(text), std::invalid_argument);
    CHECK_THROWS_AS(parse_window(text), std::invalid_argument);
  }
}

}  // namespace
}  // namespace rangefinder
