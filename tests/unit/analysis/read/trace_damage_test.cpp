// SPDX-License-Identifier: Apache-2.0
//
// What read_trace says of files that are not all there, and what it refuses.
#include <filesystem>
#include <fstream>

#include "tests/catch.h"
#include "tests/unit/analysis/read/trace_on_disk.h"
#include "tools/analysis/read/missing.h"
#include "tools/analysis/read/trace_reader.h"

using namespace rangefinder;
using test::line_of;
using test::TraceOnDisk;

namespace {

struct Counter final : TraceVisitor {
  explicit Counter(bool judging = false) : judging_(judging) {}
  void line(const Line& line, const LinePlace&) override {
    kernels += std::holds_alternative<KernelRecord>(line) ? 1 : 0;
  }
  void broken(std::string_view, const LinePlace&) override { ++faults; }
  [[nodiscard]] bool judges() const override { return judging_; }
  std::uint64_t kernels = 0, faults = 0;

 private:
  bool judging_;
};

ReadSummary read(const TraceOnDisk& trace, Counter& counter) {
  LineReader reader;
  return read_trace(open_trace_folder(trace.folder.path()), reader, counter);
}

std::string damage_of(const TraceOnDisk& trace) {
  Counter counter;
  return read(trace, counter).damage;
}

/// A second segment, with a header alone.
void write_segment(const TraceOnDisk& trace, std::uint32_t number, const Header& header) {
  std::ofstream(trace.segment(number), std::ios::binary) << line_of(header);
}

/// What reading is refused with; "" if it is not.
std::string refusal(const TraceOnDisk& trace, Counter& counter) {
  try {
    static_cast<void>(read(trace, counter));
  } catch (const Missing& error) {
    return error.what();
  }
  return {};
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

TEST_CASE("of a whole trace, and of one that a killed program left, nothing is damaged") {
  TraceOnDisk trace;
  trace.write();
  CHECK(damage_of(trace).empty());

  trace.lines[TraceOnDisk::kEnd].resize(20);
  trace.write();
  CHECK(damage_of(trace).empty());
}

TEST_CASE("the first line that cannot be read is named, and the others are counted") {
  TraceOnDisk trace;
  trace.lines[TraceOnDisk::kKernel1] = "{\"t\":\"kernel\"\n";
  trace.lines[TraceOnDisk::kKernel2] = "no JSON\n";
  trace.write();

  const std::string damage = damage_of(trace);

  CHECK(damage.starts_with(trace.segment().string() + ":8: the line is no JSON"));
  CHECK(ends_with(damage, "(and 1 more)"));
}

TEST_CASE("a line that ends before it starts is given to a visitor that judges, and to no other") {
  TraceOnDisk trace;
  trace.lines[TraceOnDisk::kKernel1] = line_of(test::kernel(1, 1, 3'000, 1'000, 1));
  trace.write();
  Counter reports, judges(true);

  const ReadSummary summary = read(trace, reports);
  CHECK(ends_with(summary.damage, ":8: kernel: ends at 1000 ns, before its start at 3000 ns"));
  CHECK((reports.kernels == 1 && reports.faults == 1 && summary.broken == 1));

  CHECK(read(trace, judges).broken == 0);
  CHECK(judges.kernels == 2);
}

TEST_CASE("a segment that is cut while others follow is damage") {
  TraceOnDisk trace;
  trace.lines[TraceOnDisk::kEnd].resize(20);
  trace.write();
  write_segment(trace, 1, test::header(1));
  Counter counter;

  const ReadSummary summary = read(trace, counter);

  CHECK(summary.torn_inside);
  CHECK(ends_with(summary.damage, "trace-00000.ndjson:14: the segment is cut here, and others follow"));
}

TEST_CASE("a segment that is not there is damage, unless it was dropped to save room") {
  TraceOnDisk trace;
  EndRecord end = test::end_record();
  std::string expected = " lacks segment 1, which comes before trace-00002.ndjson";
  SECTION("lost") {}
  SECTION("dropped") {
    end.loss[static_cast<std::size_t>(Loss::lines_over_max_size)] = 9;
    expected.clear();
  }
  trace.lines[TraceOnDisk::kEnd] = line_of(end);
  trace.write();
  write_segment(trace, 2, test::header(2));

  CHECK(ends_with(damage_of(trace), expected));
  CHECK(damage_of(trace).empty() == expected.empty());
}

TEST_CASE("segments of two processes are not read as one trace") {
  TraceOnDisk trace;
  trace.write();
  Header other = test::header(1);
  other.pid = 99;
  write_segment(trace, 1, other);
  Counter reports, judges(true);

  const std::string told = refusal(trace, reports);
  CHECK(told.find("trace-00001.ndjson:1: ") != std::string::npos);
  CHECK(told.find("two traces are in one folder") != std::string::npos);
  CHECK(read(trace, judges).broken == 0);
}

TEST_CASE("a line without an end is not held whole") {
  const TraceOnDisk trace;
  trace.write();
  std::filesystem::resize_file(trace.segment(), std::uintmax_t{1} << 40);  // a hole: takes no room
  Counter counter;

  CHECK(refusal(trace, counter).find(":15: the line is longer than 64 MiB") != std::string::npos);
}
