// SPDX-License-Identifier: Apache-2.0
//
// What a trace keeps of its files, and when it reads them again.
#include <malloc.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_rows.h"
#include "tools/analysis/model/read_progress.h"
#include "tools/analysis/model/selected_rows.h"

namespace rangefinder::memory_test {
namespace {

using test::difference;
using test::golden;
using test::read_lines;
using test::read_rows;
using test::TraceRows;

/// Of this process, after what it freed was given back.
std::uint64_t resident_bytes() {
  malloc_trim(0);
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Lines that take much more memory than text, between work.
struct LargeInMemory : test::TraceOnDisk {
  static constexpr std::uint32_t kClocks = 500'000;
  LargeInMemory() {
    std::string text = test::name_lines();
    for (std::uint32_t i = 0; i < kClocks; ++i) {
      text += "{\"t\":\"clock\",\"at\":" + std::to_string(i) + ",\"monotonic\":1}\n";
      if (i % 1'000 == 0) text += test::launch_lines(i + 1, 5);
    }
    text += test::line_of(test::end_record());
    test::write_file(segment(), text);
  }
  [[nodiscard]] TraceFolder files() const { return open_trace_folder(folder.path()); }
};

/// What a query sees of the work, and of the lines that are no rows.
struct WorkAndClocks {
  std::vector<std::string> work;
  std::uint64_t clocks = 0, clock_sum = 0, paths = 0;

  explicit WorkAndClocks(Trace& trace) {
    trace.each_chunk([this](const Chunk& chunk) {
      chunk.work(kAllWork,
                 [this](const auto& record) { work.push_back(plain_lines::content_of(Line(record))); });
      for (const Chunk::OtherLine& other : chunk.others) {
        if (const auto* const clock = std::get_if<ClockRecord>(&other.line)) {
          ++clocks;
          clock_sum += static_cast<std::uint64_t>(clock->at_ns);
        }
        paths += std::holds_alternative<PathRecord>(other.line) ? 1 : 0;
      }
    });
  }
};

std::uint64_t passes_during(Trace& trace) {
  const std::uint64_t before = read_progress.passes();
  trace.each_chunk([](const Chunk&) {});
  return read_progress.passes() - before;
}

/// Samples and named work of one pass.
struct SeenSamples {
  std::size_t samples = 0, lines = 0, placed = 0;
  SeenSamples(Trace& trace, Columns of_work) {
    trace.each_chunk([&](const Chunk& chunk) {
      lines += chunk.counts.samples;
      samples += chunk.samples.size();
      chunk.work(of_work, [this](const auto& record) { placed += record.work.path != 0; });
    });
  }
};

}  // namespace

TEST_CASE("a trace that is kept is read once") {
  Trace trace(open_trace_folder(golden("decoder_exact")), {.columns = test::kAllColumns});

  CHECK(passes_during(trace) == 1);
  CHECK(passes_during(trace) == 0);
  CHECK(trace.memory_bytes() > 100'000);
}

TEST_CASE("a trace that is not kept is read for every pass, and takes no memory") {
  Trace trace(open_trace_folder(golden("decoder_exact")), {.columns = test::kAllColumns, .keep = Keep::no});

  CHECK(passes_during(trace) == 1);
  CHECK(passes_during(trace) == 1);
  CHECK(trace.memory_bytes() == 0);
}

TEST_CASE("if_sampled keeps a trace whose header announces samples, and no other") {
  Trace sampled(open_trace_folder(golden("decoder_sampled")),
                {.columns = kAllWork, .keep = Keep::if_sampled});
  Trace exact(open_trace_folder(golden("decoder_exact")), {.columns = kAllWork, .keep = Keep::if_sampled});

  CHECK(passes_during(sampled) == 1);
  CHECK(passes_during(sampled) == 0);
  CHECK(passes_during(exact) == 1);
  CHECK(passes_during(exact) == 1);
}

TEST_CASE("columns that exceed the limit are dropped, and the files are read again with equal results",
          "[.large]") {
  const LargeInMemory made;
  std::vector<std::string> expected;
  std::uint64_t kept = 0;
  {
    Trace unlimited(made.files(), {.columns = kAllWork, .limits = {.jobs = 1, .memory_bytes = UINT64_MAX}});
    expected = WorkAndClocks(unlimited).work;
    kept = unlimited.memory_bytes();
  }
  const std::uint64_t limit = kept / 10 * 9;
  REQUIRE(resident_bytes() < kept / 2);  // the process has more than this trace while it reads the files
  Trace trace(made.files(), {.columns = kAllWork, .limits = {.jobs = 1, .memory_bytes = limit}});

  const WorkAndClocks first(trace);
  CHECK(trace.memory_bytes() == 0);
  const std::uint64_t passes = read_progress.passes();
  const WorkAndClocks second(trace);

  CHECK(read_progress.passes() == passes + 1);
  CHECK((first.work == expected));
  CHECK((second.work == expected));
  CHECK(first.clocks == LargeInMemory::kClocks);
  CHECK(second.clocks == first.clocks);
  CHECK(second.clock_sum == first.clock_sum);
  CHECK(second.paths == first.paths);
  CHECK(trace.names().read.lines == LargeInMemory::kClocks + 8 + 10 * LargeInMemory::kClocks / 1'000);
}

TEST_CASE("a query whose own memory exceeds the limit is refused, with the option that raises it") {
  for (const Keep keep : {Keep::no, Keep::if_sampled, Keep::yes}) {
    Trace trace(open_trace_folder(golden("decoder_exact")),
                {.columns = test::kAllColumns, .keep = keep, .limits = {.memory_bytes = 1'000}});

    CHECK_THROWS_AS(trace.each_chunk([](const Chunk&) {}), Missing);
    try {
      trace.each_chunk([](const Chunk&) {});
    } catch (const Missing& error) {
      const std::string text = error.what();
      CHECK(text.find("--memory") != std::string::npos);
      CHECK(text.find("decoder_exact") != std::string::npos);
      CHECK(text.find("1.00 kB") != std::string::npos);
    }
  }
}

TEST_CASE("a trace that is kept and fits the limit is not refused, whatever the process has") {
  Trace trace(open_trace_folder(golden("decoder_exact")),
              {.columns = kAllWork, .limits = {.memory_bytes = 2'000'000}});
  REQUIRE(resident_bytes() > 2'000'000);

  CHECK(passes_during(trace) == 1);
  CHECK(trace.memory_bytes() > 0);
}

TEST_CASE("samples that the header does not announce are found, and the second pass has their columns") {
  const TraceFolder files = open_trace_folder(std::filesystem::path(RANGEFINDER_SCHEMA_FOLDER) / "examples");
  for (const Keep keep : {Keep::no, Keep::if_sampled, Keep::yes}) {
    CAPTURE(static_cast<int>(keep));
    Trace trace(
        files,
        {.columns = Column::work_times, .if_sampled = Column::samples | Column::work_path, .keep = keep});
    const SeenSamples first(trace, Column::work_times);
    const std::uint64_t before = read_progress.passes();
    const SeenSamples second(trace, Column::work_path);
    CHECK(read_progress.passes() == before + 1);
    const SeenSamples third(trace, Column::work_path);

    CHECK(first.lines == 1);
    CHECK(first.samples == 0);
    CHECK(second.samples == 1);
    CHECK(second.placed > 5);
    CHECK(third.samples == 1);
    CHECK(third.placed == second.placed);
    CHECK(read_progress.passes() == before + (keep == Keep::no ? 2 : 1));
  }
}

TEST_CASE("samples that the header announces are there in the first pass") {
  Trace trace(open_trace_folder(golden("decoder_sampled")),
              {.columns = Column::work_times, .if_sampled = Column::samples | Column::work_path});

  const SeenSamples first(trace, Column::work_path), second(trace, Column::work_path);

  CHECK(first.samples > 0);
  CHECK(first.samples == first.lines);
  CHECK(first.placed > 0);
  CHECK(second.samples == first.samples);
  CHECK(second.placed == first.placed);
}

TEST_CASE("columns that are read only while the files are read are not kept") {
  const TraceFolder files = open_trace_folder(golden("decoder_exact"));
  Trace more(files, {.columns = Column::work_times, .while_reading = kAllLaunch}),
      few(files, {.columns = Column::work_times});
  std::uint64_t launches = 0;
  more.on_reading([&](const Chunk& chunk) {
    chunk.launches(kAllLaunch, [&](const auto& record) {
      if constexpr (requires { record.launch; })
        launches += record.launch.host.start_ns != kNoTime;
      else
        launches += record.host.start_ns != kNoTime;
    });
  });
  more.each_chunk([](const Chunk&) {});
  few.each_chunk([](const Chunk&) {});

  CHECK(launches > 1'000);
  CHECK(more.memory_bytes() <= few.memory_bytes() + launches);  // one byte each: the form of the launch
}

TEST_CASE("payloads and values that are read only while the files are read are not kept") {
  const TraceFolder files = open_trace_folder(golden("case_transpose_metrics"));
  for (const Columns column : {Column::range_payload, Column::exact}) {
    Trace more(files, {.columns = Column::work_times, .while_reading = column}),
        few(files, {.columns = Column::work_times});
    more.each_chunk([](const Chunk&) {});
    few.each_chunk([](const Chunk&) {});

    CHECK(more.memory_bytes() == few.memory_bytes());
  }
}

}  // namespace rangefinder::memory_test
