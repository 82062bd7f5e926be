// SPDX-License-Identifier: Apache-2.0
//
// Problems that `validate` finds: ranges that do not nest, and work outside of its range.
#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tests/unit/analysis/validate/validated.h"

using namespace rangefinder;
using test::check;
using test::line_of;
using test::only_kind;
using test::TraceOnDisk;

namespace {

std::string range_line(std::uint64_t id, std::uint32_t path, TimeNs start, TimeNs end) {
  return line_of(test::range(id, path, start, end));
}

std::string kernel_line(std::uint32_t path, std::uint64_t range) {
  return line_of(test::kernel(2, path, 3'000, 4'000, range));
}

}  // namespace

TEST_CASE("ranges and work that do not nest are found, and no other problem") {
  using T = TraceOnDisk;
  const std::string launch2 = T().lines[T::kLaunch2];
  LaunchRecord elsewhere = test::launch(2, 2, 2);
  elsewhere.host.thread = 4712;
  struct Case {
    const char* what;
    std::vector<std::pair<T::Line, std::string>> lines;
  };
  const std::vector<Case> cases{
      {"a range that ends after its parent",
       {{T::kRange2, range_line(2, 2, 150, 400)}, {T::kRange1, range_line(1, 1, 190, 500)}}},
      {"a range that closes late and begins before one that closed earlier",
       {{T::kRange2, range_line(1, 1, 160, 500)}, {T::kRange1, range_line(2, 2, 150, 400)}}},
      {"a launch before its range began", {{T::kRange2, range_line(2, 2, 250, 400)}}},
      {"a launch after its range had ended", {{T::kRange2, range_line(2, 2, 150, 205)}}},
      {"a launch after the line of its range, and outside of it",
       {{T::kRange2, range_line(2, 2, 250, 400) + launch2}, {T::kLaunch2, ""}}},
      {"a launch on another thread than its range", {{T::kLaunch2, line_of(elsewhere)}}},
      {"a launch with another path than its range",
       {{T::kLaunch2, line_of(test::launch(2, 1, 2))}, {T::kKernel2, kernel_line(1, 2)}}},
      {"a kernel in another range than its launch", {{T::kKernel2, kernel_line(2, 1)}}},
      {"a kernel at another path than its launch", {{T::kKernel2, kernel_line(1, 2)}}}};
  for (const Case& one : cases) {
    INFO(one.what);
    T trace;
    for (const auto& [line, text] : one.lines) trace.lines[line] = text;
    CHECK(only_kind(check(trace)) == "nesting");
  }
}

TEST_CASE("a node of a graph may have the range at its capture") {
  TraceOnDisk trace;
  KernelRecord node = test::kernel(2, 1, 3'000, 4'000, 1);
  node.work.graph = 5;
  node.work.captured = true;
  trace.lines[TraceOnDisk::kKernel2] = line_of(node);

  CHECK(only_kind(check(trace)).empty());
}

TEST_CASE("ranges of different domains and start/end ranges need not nest") {
  TraceOnDisk trace;
  RangeRecord other = test::range(3, 1, 300, 600);
  other.domain = 4;
  RangeRecord started = test::range(4, 0, 350, 700);
  started.name = 1;
  trace.lines[TraceOnDisk::kGpu] += line_of(DomainRecord{4, "io"}) + line_of(NameRecord{1, "prefetch"});
  trace.lines[TraceOnDisk::kRange1] += line_of(other) + line_of(started);
  trace.change_end([](EndRecord& end) { end.records[2].second = 4; });

  CHECK(only_kind(check(trace)).empty());
}

TEST_CASE("a thread that inherits names a range of another thread") {
  TraceOnDisk trace;
  LaunchRecord inherited = test::launch(2, 2, 2);
  inherited.host.thread = 4712;
  inherited.host.inherited = true;
  trace.lines[TraceOnDisk::kLaunch2] = line_of(inherited);

  CHECK(only_kind(check(trace)).empty());
}
