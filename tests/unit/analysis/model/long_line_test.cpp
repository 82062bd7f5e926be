// SPDX-License-Identifier: Apache-2.0
//
// Lines that are longer than a unit, and longer than any trace has.
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_rows.h"
#include "tools/analysis/model/unit_source.h"

namespace rangefinder::long_line_test {
namespace {

using test::difference;
using test::launch_lines;
using test::name_lines;
using test::read_columns;
using test::read_lines;
using test::ReadOutcome;

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// A line of a kernel name with this many bytes.
std::string long_line(std::size_t bytes) {
  std::string line =
      R"({"t":"kernel_name","id":9,"mangled":"x","demangled":"","library":"own","evidence":"x"})";
  line.insert(line.find(R"(","library")"), bytes - line.size(), 'y');
  return line;
}

/// Why the trace is refused, without the folder; "": it is read.
std::string refusal_of(const ReadOutcome& read) {
  const std::size_t at = read.refusal.find("trace-");
  return at == std::string::npos ? read.refusal : read.refusal.substr(at);
}

/// The same without the texts of records, which are long here.
ReadOutcome read_names(const TraceFolder& files, unsigned jobs = 2) {
  ReadOutcome out;
  try {
    Trace trace(files, {.columns = {}, .keep = Keep::no, .limits = {.jobs = jobs}});
    trace.each_chunk([](const Chunk&) {});
    out.summary = test::summary_text(trace.names().read);
  } catch (const Missing& error) {
    out.refusal = error.what();
  }
  return out;
}

struct MadeTrace : test::TraceOnDisk {
  explicit MadeTrace(const std::string& text) { test::write_file(segment(), text); }
  [[nodiscard]] TraceFolder files() const { return open_trace_folder(folder.path()); }
};

}  // namespace

TEST_CASE("a line that is longer than several units is read", "[.large]") {
  for (const std::size_t bytes : {3 * kMiB, 2 * UnitSource::kUnitBytes, 9 * kMiB + 1}) {
    CAPTURE(bytes);
    const MadeTrace made(name_lines() + long_line(bytes) + "\n" + launch_lines(1, 100) + long_line(bytes) +
                         "\n" + launch_lines(500, 100));
    for (const unsigned jobs : {1U, 4U})
      CHECK((difference(read_columns(made.files(), jobs), read_lines(made.files())).empty()));
  }
}

TEST_CASE("a line without an end is refused with its number, and not read into memory as a whole") {
  const MadeTrace made(name_lines() + launch_lines(1, 10));
  std::filesystem::resize_file(made.segment(), std::uintmax_t{1} << 40);  // sparse: takes no space

  const std::string lines = refusal_of(read_lines(made.files()));

  CHECK(lines.starts_with("trace-00000.ndjson:28: the line is longer than 64 MiB"));
  for (const unsigned jobs : {1U, 4U}) CHECK(refusal_of(read_names(made.files(), jobs)) == lines);
}

TEST_CASE("a file that is one line without an end is refused as such", "[.large]") {
  const MadeTrace made("");
  std::filesystem::resize_file(made.segment(), std::uintmax_t{1} << 40);

  const std::string lines = refusal_of(read_lines(made.files()));

  CHECK(lines.starts_with("trace-00000.ndjson:1: the line is longer than 64 MiB"));
  CHECK(refusal_of(read_names(made.files())) == lines);
}

TEST_CASE("a line longer than 64 MiB is refused, although it ends and is in the format", "[.large]") {
  const MadeTrace made(name_lines() + long_line(kMaxLineBytes + 2 * kMiB) + "\n" + launch_lines(1, 10));

  const std::string lines = refusal_of(read_lines(made.files()));

  CHECK(lines.starts_with("trace-00000.ndjson:8: the line is longer than 64 MiB"));
  CHECK(refusal_of(read_names(made.files())) == lines);
}

TEST_CASE("a line of 60 MiB is read", "[.large]") {
  const MadeTrace made(name_lines() + long_line(60 * kMiB) + "\n" + launch_lines(1, 10));
  Trace trace(made.files(), {.columns = {}, .keep = Keep::no});

  trace.each_chunk([](const Chunk&) {});

  CHECK(trace.names().kernel_names.at(9).demangled.size() > 59 * kMiB);
  CHECK(trace.names().read.lines == 7 + 1 + 20);
  CHECK(trace.names().read.broken == 0);
}

}  // namespace rangefinder::long_line_test
