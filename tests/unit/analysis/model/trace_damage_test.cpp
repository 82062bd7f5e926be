// SPDX-License-Identifier: Apache-2.0
//
// Damaged traces: chunks, counts, the first broken line and refusals are those of read_trace.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/analysis/model/damages.h"
#include "tests/unit/analysis/model/trace_rows.h"

namespace rangefinder::trace_damage_test {
namespace {

using damages::Damage;
using damages::kDamages;
using test::difference;
using test::launch_lines;
using test::name_lines;
using test::read_columns;
using test::read_lines;
using test::ReadOutcome;
using test::TraceOnDisk;
using test::without_path_ids;

constexpr std::uint32_t kLaunchesPerUnit = UnitSource::kUnitBytes / 200;
constexpr const char* kBroken = "{\"t\":\"kernel\",\"start\":\n";
constexpr const char* kReversed =
    R"({"t":"kernel","start":9,"end":8,"gpu":0,"ctx":1,"stream":7,"corr":1,"path":1,"name":1,"config":1})"
    "\n";

TraceFolder files_of(const TraceOnDisk& trace) {
  return open_trace_folder(trace.folder.path());
}

/// Both readings of the trace, by lines and by columns on several threads.
void check_same(const TraceFolder& files) {
  const ReadOutcome lines = read_lines(files);
  for (const unsigned jobs : {1U, 4U}) CHECK(difference(read_columns(files, jobs), lines) == "");
}

/// Replaces the segments by these texts.
void write_segments(const TraceOnDisk& trace, const std::vector<std::string>& texts) {
  for (std::size_t i = 0; i < texts.size(); ++i)
    test::write_file(trace.segment(static_cast<std::uint32_t>(i)), texts[i]);
}
ReadOutcome check_segments(const std::vector<std::string>& segments) {
  TraceOnDisk trace;
  write_segments(trace, segments);
  check_same(files_of(trace));
  ReadOutcome out = read_columns(files_of(trace));
  const auto cut_folder = [&](std::string& text) {
    const std::size_t at = text.find("trace-");
    if (at != std::string::npos) text.erase(0, at);
  };
  cut_folder(out.first_broken);
  cut_folder(out.refusal);
  return out;
}

/// A segment of more than two units, with `text` in its first, second and third.
std::string with_lines(const std::string& first, const std::string& second, const std::string& third) {
  return name_lines() + launch_lines(1, 10) + first + launch_lines(20, kLaunchesPerUnit) + second +
         launch_lines(1'000'000, kLaunchesPerUnit) + third + launch_lines(3'000'000, 10);
}

std::uint64_t line_count(const std::string& text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE(
    "each damaged trace of the corpus is read as read_trace reads it, or refused with the same sentence") {
  for (const Damage& damage : kDamages) {
    CAPTURE(damage.name);
    TraceOnDisk trace;
    make_damaged(damage, trace);

    check_same(files_of(trace));
  }
}

TEST_CASE("each damaged trace of the corpus is read as read_trace reads it if it is compressed") {
  for (const Damage& damage : kDamages) {
    CAPTURE(damage.name);
    TraceOnDisk trace;
    make_damaged(damage, trace);
    for (const SegmentFile& segment : files_of(trace).segments) {
      if (std::filesystem::is_regular_file(segment.path) && segment.path.extension() != ".zst")
        test::compress_segment(segment.path);
    }

    check_same(files_of(trace));
  }
}

TEST_CASE("each damage behind a unit of lines is read as read_trace reads it", "[.large]") {
  const std::string before = launch_lines(100, kLaunchesPerUnit);
  for (const Damage& damage : kDamages) {
    CAPTURE(damage.name);
    TraceOnDisk trace;
    damage.change(trace);
    if (trace.lines.size() < 2) continue;
    trace.lines[std::min<std::size_t>(TraceOnDisk::kConfig, trace.lines.size() - 1)] += before;
    trace.write();
    if (damage.change_files != nullptr) damage.change_files(trace);

    check_same(files_of(trace));
  }
}

TEST_CASE("a compressed segment that is cut anywhere is read as read_trace reads it", "[.large]") {
  for (const std::size_t cut : {1UL, 4UL, 100UL, 2'000UL, 20'000UL}) {
    CAPTURE(cut);
    TraceOnDisk trace;
    write_segments(trace, {with_lines("", "", "")});
    test::compress_segment(trace.segment(), cut);

    check_same(files_of(trace));
    CHECK(read_columns(files_of(trace)).summary.find(" yes no ") != std::string::npos);
  }
}

TEST_CASE("a trace that is cut after any byte is read as read_trace reads it") {
  TraceOnDisk trace;
  trace.write();
  const std::string whole = test::content(trace.segment());
  const std::size_t first = trace.lines[TraceOnDisk::kHeader].size();
  for (std::size_t size = 0; size < whole.size(); size += size < first ? 40 : 3) {
    CAPTURE(size);
    test::write_file(trace.segment(), whole.substr(0, size));

    CHECK(difference(read_columns(files_of(trace)), read_lines(files_of(trace))) == "");
  }
}

TEST_CASE("the last line counts if it is whole, although its newline is missing") {
  const ReadOutcome read =
      check_segments({name_lines() + launch_lines(1, 5) + R"({"t":"clock","at":1,"monotonic":2})"});

  CHECK(read.rows.of[test::TraceRows::kOthers].back().find("clock") != std::string::npos);
  CHECK(read.summary.find(" yes no ") != std::string::npos);
}

TEST_CASE("the first broken line is reported with its text and number, in any unit", "[.large]") {
  for (const char* const bad : {kBroken, kReversed, "\x01\x02\n", "{}\n"}) {
    CAPTURE(bad);
    const std::string first = with_lines(bad, "", ""), second = with_lines("", bad, ""),
                      third = with_lines("", "", bad);
    const auto number = [&](const std::string& text) {
      const std::size_t launches = static_cast<std::size_t>(std::min(text.find(bad), text.size()));
      return line_count(text.substr(0, launches)) + 1;
    };
    for (const std::string& text : {first, second, third}) {
      const ReadOutcome read = check_segments(std::vector<std::string>{text});
      CHECK(read.first_broken.starts_with("trace-00000.ndjson:" + std::to_string(number(text)) + ": "));
    }
  }
}

TEST_CASE("several broken lines in several units are counted, and the first is named") {
  const std::string bad = kBroken, other = kReversed;
  for (const auto& text : {with_lines(bad + other, bad, other), with_lines("", other + bad + bad, bad),
                           with_lines("", "", bad + bad)}) {
    const ReadOutcome read = check_segments(std::vector<std::string>{text});

    CHECK_FALSE(read.first_broken.empty());
    CHECK(read.summary.find(" more)") != std::string::npos);
  }
}

TEST_CASE("broken lines of several segments are named by segment and line") {
  TraceOnDisk trace;
  const std::string whole = with_lines("", "", ""), broken = with_lines("", kBroken, "");
  const auto of_segment = [](std::string text, std::uint32_t number) {
    return text.replace(0, test::line_of(test::header()).size(), test::line_of(test::header(number)));
  };
  for (const std::uint32_t bad_segment : {1U, 2U}) {
    std::vector<std::string> segments;
    for (std::uint32_t i = 0; i < 3; ++i)
      segments.push_back(of_segment(i >= bad_segment ? broken : whole, i));
    CAPTURE(bad_segment);

    const ReadOutcome read = check_segments(segments);

    CHECK(read.first_broken.starts_with("trace-0000" + std::to_string(bad_segment) + ".ndjson:"));
  }
}

TEST_CASE("a path of too many levels is broken in its place among other broken lines") {
  std::string deep;
  for (std::uint32_t id = 3; id <= 140; ++id) deep += test::line_of(test::path(id, id - 1, "x"));
  const std::string uses =
      test::line_of(test::launch(900, 139)) + test::line_of(test::kernel(900, 139, 5, 6));
  for (const std::string& text :
       {with_lines(deep + kBroken, uses, ""), with_lines(kBroken + deep, uses, ""),
        with_lines(deep, kBroken + uses, deep), with_lines("", deep + uses, kReversed)}) {
    const ReadOutcome read = check_segments(std::vector<std::string>{text});

    CHECK_FALSE(read.first_broken.empty());
  }
}

TEST_CASE("a segment that ends within a line and is followed by another is damage with its place") {
  const std::string whole = with_lines("", "", "");
  const std::string cut = whole.substr(0, whole.find('\n', 2 * UnitSource::kUnitBytes) - 20);
  std::string next = whole;
  next.replace(0, test::line_of(test::header()).size(), test::line_of(test::header(1)));

  const ReadOutcome read = check_segments({cut, next});

  CHECK(read.summary.find("the segment is cut here, and others follow") != std::string::npos);
  CHECK(read.summary.find(":" + std::to_string(line_count(cut) + 1) + ":") != std::string::npos);
}

TEST_CASE("lines that end in CR LF, and empty lines, are read as read_trace reads them") {
  std::string text = name_lines() + launch_lines(1, 20), with_cr;
  for (const char c : text) with_cr += c == '\n' ? std::string("\r\n") : std::string(1, c);

  check_segments(std::vector<std::string>{with_cr});
  check_segments(std::vector<std::string>{name_lines() + "\n\n" + launch_lines(1, 5) + "\n"});
  check_segments(std::vector<std::string>{"\n" + name_lines() + launch_lines(1, 5)});
  check_segments(std::vector<std::string>{name_lines() + "  \n\t\n" + launch_lines(1, 5) + "   "});
}

TEST_CASE("lines of kinds that are not known are skipped, and count as events") {
  const std::string unknown = R"({"t":"quantum","start":1,"end":0})"
                              "\n";

  const ReadOutcome read =
      check_segments(std::vector<std::string>{with_lines(unknown, unknown, unknown + unknown)});

  CHECK(read.first_broken.empty());
  check_segments(std::vector<std::string>{unknown + name_lines()});
}

TEST_CASE("random damage of bytes is read as read_trace reads it") {
  TraceOnDisk trace;
  trace.write();
  const std::string whole = test::content(trace.segment());
  std::mt19937 random(20'261'127);
  for (int round = 0; round < 600; ++round) {
    std::string text = whole;
    for (std::size_t i = 0; i < 1 + random() % 4; ++i) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1 + random() % 40);
          break;
        case 2:
          text.insert(at, 1, "\n0\"}, {"[random() % 7]);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 300));
      }
    }
    test::write_file(trace.segment(), text);
    INFO("round " << round << "\n" << text);
    ReadOutcome columns = read_columns(files_of(trace)), lines = read_lines(files_of(trace));
    columns.rows = without_path_ids(std::move(columns.rows));
    lines.rows = without_path_ids(std::move(lines.rows));
    const std::string found = difference(columns, lines);
    CHECK(found == "");
    if (!found.empty()) break;
  }
}

TEST_CASE("headers of this and of other minor versions are read, and newer major ones refused") {
  const std::string current = "\"version\":\"" + std::string(kSchemaVersion) + "\"";
  for (const char* const version : {"1.0", "1.1", "1.9", "2.0", "0.9"}) {
    CAPTURE(version);
    std::string text = name_lines() + launch_lines(1, 3);
    text.replace(text.find(current), current.size(), "\"version\":\"" + std::string(version) + "\"");

    const ReadOutcome read = check_segments(std::vector<std::string>{text});

    CHECK(read.refusal.empty() == (version[0] == '1'));
  }
}

TEST_CASE("files that are no traces are refused as by the readers of lines") {
  for (const std::string& text : std::vector<std::string>{
           std::string(), std::string("hello\n"), std::string("{}\n"), std::string("\0\0\0\0", 4),
           std::string("{"), launch_lines(1, 3), launch_lines(1, 2 * kLaunchesPerUnit),
           test::line_of(test::gpu()) + name_lines(), test::line_of(MarkRecord{}) + name_lines(),
           std::string(kBroken) + name_lines(), test::line_of(test::kernel(1, 1, 1, 2)) + kBroken,
           std::string(5'000'000, 'x'), std::string(300'000, '\n')}) {
    CAPTURE(text.substr(0, 60), text.size());

    CHECK_FALSE(check_segments(std::vector<std::string>{text}).refusal.empty());
  }
}

TEST_CASE("a second segment of another process is refused with its place") {
  Header other = test::header(1);
  other.pid = 99;

  const ReadOutcome read =
      check_segments({with_lines("", "", ""), test::line_of(other) + launch_lines(1, 3)});

  CHECK(read.refusal.starts_with("trace-00001.ndjson:1: this segment is from process 99"));
}

TEST_CASE("a summary that counts more events than the segments hold is damage, as for read_trace") {
  for (const std::uint64_t records :
       {std::uint64_t{0}, std::uint64_t{20}, std::uint64_t{21}, std::uint64_t{5'000}}) {
    for (const char* const final : {"true", "false"}) {
      TraceOnDisk trace;
      write_segments(trace, {name_lines() + launch_lines(1, 10)});
      test::write_file(trace.folder.path() / "summary.json", R"({"schema":"rangefinder.summary","final":)" +
                                                                 std::string(final) + R"(,"records":)" +
                                                                 std::to_string(records) + "}");
      check_same(files_of(trace));
    }
  }
}

TEST_CASE("reading stops after 1,000 unreadable lines in a row, and says where") {
  const auto read = [](std::size_t lines, const std::string& line) {
    std::string run;
    for (std::size_t i = 0; i < lines; ++i) run += line;
    return check_segments({name_lines() + launch_lines(1, 10) + run + launch_lines(20, 10), name_lines(1)});
  };
  for (const std::string line : {"\n", "{}\n", kBroken}) {
    CAPTURE(line);
    CHECK(read(999, line).summary.find("stopped") == std::string::npos);
    CHECK(read(1'200, line)
              .summary.find("(and 999 more); reading stopped at trace-00000.ndjson:1027, after "
                            "1,000 unreadable lines in a row") != std::string::npos);
  }
}

}  // namespace rangefinder::trace_damage_test
