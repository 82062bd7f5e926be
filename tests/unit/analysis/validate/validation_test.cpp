// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/validate/validation.h"

#include <functional>

#include "tests/catch.h"
#include "tests/unit/analysis/read/trace_on_disk.h"
#include "tests/unit/analysis/validate/validated.h"

using namespace rangefinder;
using test::check;
using test::line_of;
using test::only_kind;
using test::shown;
using test::TraceOnDisk;

namespace {

void change_end(TraceOnDisk& trace, const std::function<void(EndRecord&)>& change) {
  EndRecord end = test::end_record();
  change(end);
  trace.lines[TraceOnDisk::kEnd] = line_of(end);
}

}  // namespace

TEST_CASE("a true trace has no problem") {
  const TraceOnDisk trace;

  const Validation result = check(trace, true);

  INFO(shown(result));
  CHECK(result.valid());
  CHECK(result.lines == trace.lines.size());
}

TEST_CASE("a wrong structure is found, and nothing else") {
  TraceOnDisk trace;
  auto& lines = trace.lines;
  std::string expected;
  SECTION("a line that is no JSON") {
    lines.insert(lines.begin() + TraceOnDisk::kFlush, "{\"t\":\"kernel\",\n");
    expected = "line";
  }
  SECTION("a segment that does not begin with its header") {
    std::swap(lines[TraceOnDisk::kHeader], lines[TraceOnDisk::kGpu]);
    expected = "header";
  }
  SECTION("two headers") {
    lines.insert(lines.begin() + 1, lines[0]);
    expected = "header";
  }
  SECTION("a line behind the end") {
    lines.push_back(line_of(ClockRecord{1, 2}));
    expected = "end";
  }
  SECTION("a header that names another segment") {
    lines[TraceOnDisk::kHeader] = line_of(test::header(4));
    expected = "segment";
  }

  CHECK(only_kind(check(trace)) == expected);
}

TEST_CASE("a wrong identity is found, and nothing else") {
  TraceOnDisk trace;
  auto& lines = trace.lines;
  std::string expected;
  SECTION("a path that was never named") {
    lines[TraceOnDisk::kInner].clear();
    expected = "unknown-id";
  }
  SECTION("a configuration that comes too late") {
    std::swap(lines[TraceOnDisk::kConfig], lines[TraceOnDisk::kLaunch2]);
    expected = "unknown-id";
  }
  SECTION("a gpu without a line") {
    lines[TraceOnDisk::kGpu].clear();
    expected = "unknown-id";
  }
  SECTION("a range that nobody describes") {
    lines[TraceOnDisk::kRange2] = line_of(test::range(9, 2, 150, 400));
    expected = "unknown-id";
  }
  SECTION("a parent that is not smaller") {
    lines[TraceOnDisk::kOuter] += line_of(test::path(3, 3, "loop"));
    expected = "path-parent";
  }
  SECTION("one id with two contents") {
    lines[TraceOnDisk::kConfig] += line_of(test::path(2, 1, "other"));
    expected = "duplicate-id";
  }
  SECTION("one range id twice") {
    lines[TraceOnDisk::kRange1] += lines[TraceOnDisk::kRange1];
    change_end(trace, [](EndRecord& end) { end.records[2].second = 3; });
    expected = "duplicate-id";
  }

  CHECK(only_kind(check(trace)) == expected);
}

TEST_CASE("wrong times and launches are found, and nothing else") {
  TraceOnDisk trace;
  auto& lines = trace.lines;
  KernelRecord untimed = test::kernel(2, 2, 3'000, 4'000, 2);
  std::string expected;
  SECTION("a kernel that ends before it starts") {
    lines[TraceOnDisk::kKernel1] = line_of(test::kernel(1, 1, 3'000, 1'000, 1));
    expected = "time";
  }
  SECTION("a range that ends before it starts") {
    lines[TraceOnDisk::kRange1] = line_of(test::range(1, 1, 500, 50));
    expected = "time";
  }
  SECTION("a kernel without times that the ledger does not know of") {
    untimed.work.start_ns = untimed.work.end_ns = kNoTime;
    lines[TraceOnDisk::kKernel2] = line_of(untimed);
    expected = "untimed";
  }
  SECTION("two launches with one correlation") {
    lines[TraceOnDisk::kLaunch2] += line_of(test::launch(1, 1));
    change_end(trace, [](EndRecord& end) { end.records[1].second = 3; });
    expected = "correlation";
  }
  SECTION("a kernel without a launch that the ledger does not know of") {
    lines[TraceOnDisk::kKernel2] = line_of(test::kernel(77, 2, 3'000, 4'000, 2));
    expected = "correlation";
  }

  CHECK(only_kind(check(trace)) == expected);
}

TEST_CASE("counts that do not add up are found, and nothing else") {
  TraceOnDisk trace;
  auto& lines = trace.lines;
  std::string expected;
  SECTION("a kernel line too few") {
    lines[TraceOnDisk::kKernel2].clear();
    lines[TraceOnDisk::kFlush] = line_of(FlushRecord{5'000, 5, {}});
    expected = "counts";
  }
  SECTION("a heartbeat that counted more lines than there are") {
    lines[TraceOnDisk::kFlush] = line_of(FlushRecord{5'000, 7, {}});
    expected = "counts";
  }
  SECTION("heartbeats that go back") {
    lines[TraceOnDisk::kFlush] += line_of(FlushRecord{6'000, 5, {}});
    expected = "flush";
  }
  SECTION("a balance that does not add up") {
    change_end(trace, [](EndRecord& end) { end.balance[0].launched = 3; });
    expected = "ledger";
  }
  SECTION("lost launches without a cause") {
    change_end(trace, [](EndRecord& end) { end.balance[0] = {3, 2, 0, 1}; });
    expected = "ledger";
  }
  SECTION("exact launches without lines") {
    change_end(trace, [](EndRecord& end) { end.balance[3] = {1, 0, 1, 0}; });
    expected = "ledger";
  }

  CHECK(only_kind(check(trace)) == expected);
}

TEST_CASE("a launch that has a record the ledger does not count is found, and nothing else") {
  TraceOnDisk trace;
  change_end(trace, [](EndRecord& end) {
    end.balance[0] = {2, 1, 0, 1};
    end.loss[static_cast<std::size_t>(Loss::launch_without_record)] = 1;
  });

  CHECK(only_kind(check(trace)) == "ledger");
}

TEST_CASE("what the ledger admits is no problem") {
  TraceOnDisk trace;
  trace.lines[TraceOnDisk::kKernel2] = line_of(test::kernel(77, 2, 3'000, 4'000, 2));
  change_end(trace, [](EndRecord& end) {
    end.balance[0] = {3, 2, 0, 1};
    end.loss[static_cast<std::size_t>(Loss::record_without_launch)] = 1;
    end.loss[static_cast<std::size_t>(Loss::launch_without_record)] = 1;
  });

  const Validation result = check(trace);

  INFO(shown(result));
  CHECK(result.valid());
}

TEST_CASE("a problem names its file and line") {
  TraceOnDisk trace;
  trace.lines[TraceOnDisk::kKernel1] = line_of(test::kernel(1, 1, 3'000, 1'000, 1));

  const Validation result = check(trace);

  REQUIRE(result.problems.first().size() == 1);
  CHECK(result.problems.first()[0].file == trace.segment().string());
  CHECK(result.problems.first()[0].line == TraceOnDisk::kKernel1 + 1);
}

TEST_CASE("a torn last line is a note, and a problem when strict") {
  TraceOnDisk trace;
  trace.lines[TraceOnDisk::kEnd].resize(30);

  CHECK(check(trace).valid());
  CHECK(check(trace).notes.size() >= 2);  // torn, and no end
  const Validation strict = check(trace, true);
  CHECK(strict.problems.by_kind().count("torn") == 1);
  CHECK(strict.problems.by_kind().count("no-end") == 1);
}

TEST_CASE("a missing segment is found") {
  TraceOnDisk trace;
  const std::string end = trace.lines.back();
  trace.lines.pop_back();
  trace.write(0);
  TraceOnDisk later;
  later.lines = {line_of(test::header(2)), end};
  std::filesystem::copy_file(trace.segment(0), later.segment(0));
  later.write(2);

  const Validation result = validate_trace(open_trace_folder(later.folder.path()), false);

  CHECK(only_kind(result) == "segment");
}

TEST_CASE("one segment can be looked at alone") {
  TraceOnDisk trace;
  trace.lines = {line_of(test::header(1)), line_of(test::path(1, 0, "model")), line_of(test::launch(3, 1))};
  trace.write(1);

  const auto found = find_traces(trace.segment(1));
  REQUIRE(found.size() == 1);

  CHECK(validate_trace(found[0], true).valid());
}

TEST_CASE("many problems are all counted and few are kept") {
  TraceOnDisk trace;
  for (int i = 0; i < 100; ++i) trace.lines[TraceOnDisk::kGpu] += "no json\n";

  const Validation result = check(trace);

  CHECK(result.problems.count() == 100);
  CHECK(result.problems.first().size() == 20);
}
