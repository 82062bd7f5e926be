// SPDX-License-Identifier: Apache-2.0
//
// Problems that `validate` finds: ranges that do not nest, and work outside of its range.
#include "tests/catch.h"
#include "tests/unit/analysis/read/trace_on_disk.h"
#include "tests/unit/analysis/validate/validated.h"

using namespace rangefinder;
using test::check;
using test::line_of;
using test::only_kind;
using test::TraceOnDisk;

TEST_CASE("ranges and work that do not nest are found, and no other problem") {
  TraceOnDisk trace;
  auto& lines = trace.lines;
  SECTION("a range that ends after its parent") {
    lines[TraceOnDisk::kRange2] = line_of(test::range(2, 2, 150, 400));
    lines[TraceOnDisk::kRange1] = line_of(test::range(1, 1, 190, 500));
  }
  SECTION("a range that closes late and begins before one that closed earlier") {
    lines[TraceOnDisk::kRange2] = line_of(test::range(1, 1, 160, 500));
    lines[TraceOnDisk::kRange1] = line_of(test::range(2, 2, 150, 400));
  }
  SECTION("a launch before its range began") {
    lines[TraceOnDisk::kRange2] = line_of(test::range(2, 2, 250, 400));
  }
  SECTION("a launch after its range had ended") {
    lines[TraceOnDisk::kRange2] = line_of(test::range(2, 2, 150, 205));
  }
  SECTION("a launch after the line of its range, and outside of it") {
    lines[TraceOnDisk::kRange2] = line_of(test::range(2, 2, 250, 400)) + lines[TraceOnDisk::kLaunch2];
    lines[TraceOnDisk::kLaunch2].clear();
  }
  SECTION("a launch on another thread than its range") {
    LaunchRecord launch = test::launch(2, 2, 2);
    launch.host.thread = 4712;
    lines[TraceOnDisk::kLaunch2] = line_of(launch);
  }
  SECTION("a launch with another path than its range") {
    lines[TraceOnDisk::kLaunch2] = line_of(test::launch(2, 1, 2));
    lines[TraceOnDisk::kKernel2] = line_of(test::kernel(2, 1, 3'000, 4'000, 2));
  }
  SECTION("a kernel in another range than its launch") {
    lines[TraceOnDisk::kKernel2] = line_of(test::kernel(2, 2, 3'000, 4'000, 1));
  }
  SECTION("a kernel at another path than its launch") {
    lines[TraceOnDisk::kKernel2] = line_of(test::kernel(2, 1, 3'000, 4'000, 2));
  }

  CHECK(only_kind(check(trace)) == "nesting");
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
  EndRecord end = test::end_record();
  end.records[2].second = 4;
  trace.lines[TraceOnDisk::kEnd] = line_of(end);

  CHECK(only_kind(check(trace)).empty());
}
