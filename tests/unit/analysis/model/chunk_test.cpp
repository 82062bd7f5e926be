// SPDX-License-Identifier: Apache-2.0
//
// The rows of chunks against the lines of read_trace, over recorded runs and made lines.
#include "tools/analysis/model/chunk.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_rows.h"
#include "tools/analysis/model/line_parts.h"

namespace rangefinder::chunk_test {
namespace {

using test::all_recordings;
using test::difference;
using test::read_columns;
using test::read_lines;
using test::read_rows;
using test::ReadOutcome;
using test::TraceRows;

/// A recorded trace in the writer's form. Recordings are in the form of a JSON library, which scan_line()
/// does not take.
struct Rewritten {
  explicit Rewritten(const std::filesystem::path& recording) {
    const std::string text = test::content(recording / "trace-00000.ndjson");
    std::string out;
    LineReader reader;
    Line line;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      REQUIRE(reader.read(std::string_view(text).substr(at, end - at), line));
      out += test::line_of(line);
      at = end + 1;
    }
    test::write_file(folder.path() / "trace-00000.ndjson", out);
  }
  [[nodiscard]] TraceFolder files() const { return open_trace_folder(folder.path()); }

  test::TemporaryFolder folder;
};

/// Lines of every form of every kind that scan_line() reads, and a name for each path.
struct EveryForm : test::TraceOnDisk {
  EveryForm() {
    Header sampled = test::header();  // or the files would be read again for the samples
    sampled.counters = "sampled";
    lines = {test::line_of(sampled), test::line_of(test::gpu())};
    for (std::uint32_t id = 1; id <= 12; ++id)
      lines.push_back(
          test::line_of(test::path(id, id / 2, id == 6 ? "" : "model.layers." + std::to_string(id))));
    for (int i = 0; i < 3; ++i) {
      for (const char* const form : plain_lines::kForms) {
        if (std::string_view(form).find(R"("t":"path")") == std::string_view::npos)
          lines.push_back(form + std::string("\n"));
      }
    }
    write();
  }
  [[nodiscard]] TraceFolder files() const { return open_trace_folder(folder.path()); }
};

/// Work and samples as they are in the file.
std::vector<std::string> work_and_samples(const TraceFolder& files) {
  std::vector<std::string> out;
  LineReader reader;
  static_cast<void>(rangefinder::read_lines(files, reader, [&](const Line& line, const LinePlace&) {
    const TraceRows::Table table = TraceRows::table_of(line);
    if (table == TraceRows::kWork || table == TraceRows::kSamples)
      out.push_back(plain_lines::content_of(line));
  }));
  return out;
}

}  // namespace

TEST_CASE("chunks have the records that read_lines gives, of every recording") {
  for (const auto& recording : all_recordings()) {
    CAPTURE(recording.filename());
    const TraceFolder files = open_trace_folder(recording);

    CHECK(difference(read_columns(files), read_lines(files)) == "");
  }
}

TEST_CASE("chunks have the records that read_lines gives, of every recording in the writer's form") {
  for (const auto& recording : all_recordings()) {
    CAPTURE(recording.filename());
    const Rewritten trace(recording);

    CHECK(difference(read_columns(trace.files()), read_lines(trace.files())) == "");
  }
}

TEST_CASE("kept chunks have the records of the first pass, of every recording") {
  for (const auto& recording : all_recordings()) {
    CAPTURE(recording.filename());
    const TraceFolder files = open_trace_folder(recording);
    Trace trace(files, {.columns = test::kAllColumns});
    static_cast<void>(read_rows(trace));

    const TraceRows kept = read_rows(trace);

    CHECK(trace.memory_bytes() > 0);
    CHECK(difference(kept, read_lines(files).rows) == "");
  }
}

TEST_CASE("every table has rows in some recording") {
  std::array<std::size_t, TraceRows::kTables> rows{};
  for (const auto& recording : all_recordings()) {
    const TraceRows of = read_columns(open_trace_folder(recording)).rows;
    for (std::size_t table = 0; table < TraceRows::kTables; ++table) rows[table] += of.of[table].size();
  }

  for (const std::size_t count : rows) CHECK(count > 0);
}

TEST_CASE("every form of a line gives the record that read_trace gives, kept or not") {
  const EveryForm made;
  const ReadOutcome lines = read_lines(made.files());
  Trace trace(made.files(), {.columns = test::kAllColumns});

  CHECK(difference(read_columns(made.files()), lines) == "");
  CHECK(difference(read_rows(trace), lines.rows) == "");
  CHECK(difference(read_rows(trace), lines.rows) == "");
}

TEST_CASE("values, reasons and payloads belong to their rows, in every order of reading") {
  const EveryForm made;
  const ReadOutcome lines = read_lines(made.files());
  std::vector<std::string> expected;
  for (const std::string& text : lines.rows.of[TraceRows::kLaunches]) {
    if (text.find(R"("t":"exact")") != std::string::npos) expected.push_back(text);
  }
  Trace trace(made.files(), {.columns = Column::exact});
  trace.each_chunk([](const Chunk&) {});

  TraceRows exact;
  trace.each_chunk([&](const Chunk& chunk) {
    chunk.exact([&](const ExactRecord& record) { exact.add(Line(record)); });
    chunk.exact([&](const ExactRecord& record) { exact.add(Line(record)); });
  });

  const auto& rows = exact.of[TraceRows::kLaunches];
  REQUIRE(rows.size() == 2 * expected.size());
  CHECK(std::equal(expected.begin(), expected.end(), rows.begin()));
  CHECK(std::equal(expected.begin(), expected.end(),
                   rows.begin() + static_cast<std::ptrdiff_t>(expected.size())));
}

TEST_CASE("launches without counters have their host call, and counter ranges stay distinct") {
  const EveryForm made;
  std::vector<std::string> expected, found;
  const auto text = [](const LaunchRecord& launch, bool counter_range) {
    return test::line_of(launch) + (counter_range ? "counter range" : "");
  };
  Trace all(made.files(), {.columns = test::kAllColumns}), bare(made.files(), {.columns = kAllLaunch});
  const auto collect = [&](std::vector<std::string>& out) {
    return [&out, &text](const auto& record) {
      if constexpr (requires { record.is_counter_range; })
        out.push_back(text(record.launch, record.is_counter_range));
      else
        out.push_back(text(record, false));
    };
  };

  all.each_chunk([&](const Chunk& chunk) { chunk.launches(kAllLaunch | Column::exact, collect(expected)); });
  bare.each_chunk([&](const Chunk& chunk) { chunk.launches(kAllLaunch, collect(found)); });

  CHECK(expected.size() > 20);
  CHECK(found == expected);
}

TEST_CASE("copies that are not wanted in detail have the place and time of their work") {
  const auto text = [](const GpuWork& work) { return test::line_of(GraphRecord{work}); };
  std::vector<std::string> expected, found;
  const TraceFolder files = open_trace_folder(test::golden("copy_storm"));
  Trace all(files, {.columns = test::kAllColumns}),
      bare(files, {.columns = Column::work_times | Column::work_place});
  const auto collect = [&](std::vector<std::string>& out) {
    return [&](const auto& record) {
      if constexpr (requires { record.bytes; }) CHECK((&out == &expected || record.bytes == 0));
      out.push_back(text(record.work));
    };
  };
  constexpr Columns kWanted = Column::work_times | Column::work_place;

  all.each_chunk([&](const Chunk& chunk) { chunk.work(kWanted | Column::copies, collect(expected)); });
  bare.each_chunk([&](const Chunk& chunk) { chunk.work(kWanted, collect(found)); });

  CHECK(expected.size() > 50);
  CHECK(found == expected);
}

TEST_CASE("work and samples can be read in the order of the file") {
  for (const char* const name : {"decoder_sampled", "rtdetr_sampled", "hf_rtdetr_sampled"}) {
    CAPTURE(name);
    const TraceFolder files = open_trace_folder(test::golden(name));
    Trace trace(files, {.columns = test::kAllColumns});
    TraceRows first, kept;
    std::vector<std::string> seen, again;
    const auto read = [&](std::vector<std::string>& out) {
      trace.each_chunk([&out](const Chunk& chunk) {
        chunk.work_and_samples(
            kAllWork, [&out](const auto& record) { out.push_back(plain_lines::content_of(Line(record))); });
      });
    };

    read(seen);
    read(again);

    CHECK((seen == work_and_samples(files)));
    CHECK((again == seen));
  }
}

TEST_CASE("a column that is loaded but not wanted leaves the record as it is") {
  Trace trace(open_trace_folder(test::golden("rtdetr_unfused")), {.columns = test::kAllColumns});

  trace.each_chunk([](const Chunk& chunk) {
    std::uint64_t kernels = 0, named = 0, placed = 0;
    chunk.work(Column::work_name, [&](const auto& record) {
      if constexpr (is_kernel_record<decltype(record)>) {
        ++kernels;
        named += record.name != 0;
        placed += record.work.start_ns != kNoTime || record.work.path != 0 || record.config != 0;
      }
    });
    CHECK(kernels > 1'000);
    CHECK(named == kernels);
    CHECK(placed == 0);
  });
}

}  // namespace rangefinder::chunk_test
