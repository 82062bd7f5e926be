// SPDX-License-Identifier: Apache-2.0
//
// Chunks of traces of many units and segments: their order, and names while they are read.
#include "tools/analysis/model/trace.h"

#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_rows.h"
#include "tools/analysis/model/line_parts.h"
#include "tools/analysis/model/read_progress.h"
#include "tools/analysis/model/selection.h"
#include "tools/analysis/model/trace_totals.h"

namespace rangefinder::trace_test {
namespace {

using test::difference;
using test::launch_lines;
using test::name_lines;
using test::read_columns;
using test::read_lines;
using test::read_rows;
using test::ReadOutcome;
using test::TraceRows;

constexpr std::uint32_t kLaunchesPerUnit = UnitSource::kUnitBytes / 200;

/// Three segments of several units each, the middle one compressed.
struct ThreeSegments : test::TraceOnDisk {
  explicit ThreeSegments(std::uint32_t first = 1) {
    constexpr std::uint32_t kLaunches = 2 * kLaunchesPerUnit;
    for (std::uint32_t number = 0; number < 3; ++number) {
      test::write_file(segment(number),
                       name_lines(number) + launch_lines(first + number * kLaunches, kLaunches) +
                           (number == 2 ? test::line_of(test::end_record()) : std::string()));
    }
    test::compress_segment(segment(1));
  }
  [[nodiscard]] TraceFolder files() const { return open_trace_folder(folder.path()); }
};

/// Names and launches of the first segment, of about 8 MiB.
struct LargeSegment : test::TraceOnDisk {
  LargeSegment() {
    test::write_file(
        segment(), name_lines() + launch_lines(1, 4 * kLaunchesPerUnit) + test::line_of(test::end_record()));
  }
  [[nodiscard]] TraceFolder files() const { return open_trace_folder(folder.path()); }
};

std::size_t chunks_of(const TraceFolder& files, unsigned jobs) {
  Trace trace(files, {.columns = {}, .keep = Keep::no, .limits = {.jobs = jobs}});
  std::size_t count = 0;
  trace.each_chunk([&count](const Chunk&) { ++count; });
  return count;
}

std::vector<std::uint32_t> correlations(Trace& trace) {
  std::vector<std::uint32_t> out;
  trace.each_chunk([&out](const Chunk& chunk) {
    chunk.work(Column::work_correlation,
               [&out](const auto& record) { out.push_back(record.work.correlation); });
  });
  return out;
}

}  // namespace

TEST_CASE("chunks of a segment of many units are in the order of the file, with any number of threads") {
  const LargeSegment made;
  const ReadOutcome lines = read_lines(made.files());
  REQUIRE(lines.rows.of[TraceRows::kWork].size() == 4 * kLaunchesPerUnit);
  for (const unsigned jobs : {0U, 1U, 2U, 4U}) {
    CAPTURE(jobs);
    CHECK(chunks_of(made.files(), jobs) >= 4);
    CHECK(difference(read_columns(made.files(), jobs), lines) == "");
  }
}

TEST_CASE("chunks of several segments, plain and compressed, are in the order of the files") {
  const ThreeSegments made;
  const ReadOutcome lines = read_lines(made.files());
  REQUIRE(lines.refusal == "");
  for (const unsigned jobs : {1U, 2U, 4U, 16U}) {
    CAPTURE(jobs);
    CHECK(chunks_of(made.files(), jobs) >= 6);
    CHECK(difference(read_columns(made.files(), jobs), lines) == "");
  }
}

TEST_CASE("kept chunks are in the order of the files, with any number of threads") {
  const ThreeSegments made;
  for (const unsigned jobs : {1U, 4U}) {
    CAPTURE(jobs);
    Trace trace(made.files(), {.columns = Column::work_correlation, .limits = {.jobs = jobs}});
    const std::vector<std::uint32_t> first = correlations(trace);

    CHECK((correlations(trace) == first));
    REQUIRE(first.size() == 6 * kLaunchesPerUnit);
    bool ascends = true;
    for (std::size_t i = 0; i < first.size(); ++i) ascends = ascends && first[i] == i + 1;
    CHECK(ascends);
  }
}

TEST_CASE("the traces of two processes can be read within each other") {
  const ThreeSegments one, other(1'000'000);
  Trace outer(one.files(), {.columns = Column::work_correlation}),
      inner(other.files(), {.columns = Column::work_correlation});
  std::size_t passes = 0;
  std::vector<std::uint32_t> seen;

  outer.each_chunk([&](const Chunk& chunk) {
    if (++passes <= 3) {
      const std::vector<std::uint32_t> of_other = correlations(inner);
      CHECK(of_other.size() == 6 * kLaunchesPerUnit);
      CHECK(of_other.front() == 1'000'000);
    }
    chunk.work(Column::work_correlation,
               [&](const auto& record) { seen.push_back(record.work.correlation); });
  });

  CHECK((seen == correlations(outer)));
  CHECK(inner.names().files.folder == other.folder.path());
}

TEST_CASE("names during a pass are those of the chunks so far, and complete afterwards") {
  test::TraceOnDisk made;
  const std::uint32_t launches = 2 * kLaunchesPerUnit;
  test::write_file(made.segment(),
                   name_lines() + launch_lines(1, launches) + test::line_of(test::path(3, 0, "late")) +
                       test::line_of(ThreadRecord{4711, "main"}) + test::line_of(test::end_record()));
  Trace trace(open_trace_folder(made.folder.path()), {.columns = Column::work_times});
  std::vector<std::size_t> paths;

  trace.each_chunk([&](const Chunk&) { paths.push_back(trace.names().paths.size()); });

  REQUIRE(paths.size() >= 2);
  CHECK(paths.front() == 4);  // model, encoder, layers, 0
  CHECK(paths.back() == 5);
  CHECK(trace.names().path_text(4) == "model/encoder/layers/0");
  CHECK(trace.names().threads.at(4711) == "main");
  REQUIRE(trace.names().end);
}

TEST_CASE("on_reading passes each chunk once, before each_chunk does, with the columns of the reading") {
  const LargeSegment made;
  Trace trace(made.files(), {.columns = Column::work_correlation, .while_reading = Column::launch_times});
  std::string order;
  std::uint64_t launches = 0, timed = 0;
  trace.on_reading([&](const Chunk& chunk) {
    order += 'r';
    chunk.launches(Column::launch_times, [&](const auto& launch) {
      ++launches;
      timed += host_of(launch).start_ns == 1'000 * static_cast<TimeNs>(launches);
    });
  });
  const auto see = [&](const Chunk&) { order += 'e'; };

  trace.each_chunk(see);
  const std::string first = std::exchange(order, "");
  trace.each_chunk(see);

  CHECK(first.starts_with("rere"));
  CHECK(order == std::string(first.size() / 2, 'e'));
  CHECK(launches == 4 * kLaunchesPerUnit);
  CHECK(timed == launches);
}

TEST_CASE("chunks that are not kept are read again, with the same rows and names") {
  for (const auto& recording : test::all_recordings()) {
    CAPTURE(recording.filename());
    Trace trace(open_trace_folder(recording), {.columns = test::kAllColumns, .keep = Keep::no});
    const TraceRows first = read_rows(trace);
    const std::size_t paths = trace.names().paths.size();
    const std::string summary = test::summary_text(trace.names().read);
    const std::uint64_t passes = read_progress.passes();

    const TraceRows second = read_rows(trace);

    CHECK(read_progress.passes() == passes + 1);
    CHECK(trace.memory_bytes() == 0);
    CHECK(difference(second, first) == "");
    CHECK(trace.names().paths.size() == paths);
    CHECK(test::summary_text(trace.names().read) == summary);
  }
}

TEST_CASE("a query can end the reading with an exception") {
  const ThreeSegments made;
  struct Enough {};
  for (const unsigned jobs : {1U, 4U}) {
    Trace trace(made.files(), {.columns = test::kAllColumns, .limits = {.jobs = jobs}});
    CHECK_THROWS_AS(trace.each_chunk([](const Chunk&) { throw Enough(); }), Enough);
  }
}

TEST_CASE("a trace without segments is refused with how to get them") {
  const test::TemporaryFolder folder;
  test::write_file(folder.path() / "summary.json", "{}");

  CHECK_THROWS_WITH(Trace(open_trace_folder(folder.path()), {}), ContainsSubstring("no trace-*.ndjson"));
}

}  // namespace rangefinder::trace_test
