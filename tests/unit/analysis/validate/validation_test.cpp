// SPDX-License-Identifier: Apache-2.0
//
// Validation of valid traces and of what it counts; the kinds of problems are in ../model/damages_test.cpp.
#include "tools/analysis/validate/validation.h"

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tests/unit/analysis/validate/validated.h"

using namespace rangefinder;
using test::check;
using test::line_of;
using test::shown;
using test::TraceOnDisk;

TEST_CASE("a valid trace has no problem") {
  const TraceOnDisk trace;

  const Validation result = check(trace, true);

  INFO(shown(result));
  CHECK(result.valid());
  CHECK(result.lines == trace.lines.size());
}

TEST_CASE("loss that the ledger counts is no problem") {
  TraceOnDisk trace;
  trace.lines[TraceOnDisk::kKernel2] = line_of(test::kernel(77, 2, 3'000, 4'000, 2));
  trace.change_end([](EndRecord& end) {
    end.balance[0] = {3, 2, 0, 1};
    end.loss[static_cast<std::size_t>(Loss::record_without_launch)] = 1;
    end.loss[static_cast<std::size_t>(Loss::launch_without_record)] = 1;
  });

  const Validation result = check(trace);

  INFO(shown(result));
  CHECK(result.valid());
}

TEST_CASE("after a gap CUPTI may count correlation ids from the start again") {
  const auto again = [](const std::string& between) {
    TraceOnDisk trace;
    trace.lines[TraceOnDisk::kEnd] = between + line_of(test::launch(1, 1)) +
                                     line_of(test::kernel(1, 1, 6'000, 7'000)) +
                                     trace.lines[TraceOnDisk::kEnd];
    EndRecord end = test::end_record();
    end.records = {{"kernel", 3}, {"launch", 3}, {"range", 2}};
    if (!between.empty()) end.records.emplace_back("gap", 1);
    end.balance[0] = {3, 3, 0, 0};
    const std::string& all = trace.lines[TraceOnDisk::kEnd];
    trace.lines[TraceOnDisk::kEnd] = all.substr(0, all.rfind("\n", all.size() - 2) + 1) + line_of(end);
    return shown(check(trace));
  };

  CHECK(again(line_of(GapRecord{5'000, 5'500, "torch.profiler"})).empty());
  CHECK(again("").find("a second launch with correlation 1") != std::string::npos);
}

TEST_CASE("samples of stacks may be half an interval early, as far as times of a line are exact") {
  const auto valid = [](std::uint32_t last_us) {
    TraceOnDisk trace;
    trace.add_stacks({}, {{0, 1}, {10, 1}, {20, 1}, {last_us, 2}});
    return check(trace).valid();
  };

  CHECK(valid(15));
  CHECK(!valid(14));
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

TEST_CASE("a single segment can be validated") {
  TraceOnDisk trace;
  trace.lines = {line_of(test::header(1)), line_of(test::path(1, 0, "model")), line_of(test::launch(3, 1))};
  trace.write(1);

  const auto found = find_traces(trace.segment(1));
  REQUIRE(found.size() == 1);

  CHECK(validate_trace(found[0], true).valid());
}

TEST_CASE("all problems are counted and the first 20 are kept") {
  TraceOnDisk trace;
  for (int i = 0; i < 100; ++i) trace.lines[TraceOnDisk::kGpu] += "no json\n";

  const Validation result = check(trace);

  CHECK(result.problems.count() == 100);
  CHECK(result.problems.first().size() == 20);
}
