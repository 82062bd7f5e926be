// SPDX-License-Identifier: Apache-2.0
#include "profiler/output/segment_writer.h"

#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/output/written_trace.h"

using namespace rangefinder;
using namespace rangefinder::test;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr SegmentLimits kRoomy{256 * kMiB, 0, false};

/// A group of one line, with a "header" where a segment begins, as TraceWriter does.
void put(SegmentWriter& writer, const std::string& text) {
  writer.commit();
  if (writer.begins_segment()) {
    writer.text() += "header " + std::to_string(writer.segment()) + "\n";
    writer.line_done();
  }
  writer.text() += text + "\n";
  writer.line_done();
}

/// `count` lines of 1 KiB, numbered from `first`.
void put_kib(SegmentWriter& writer, int first, int count) {
  for (int i = first; i < first + count; ++i) {
    std::string text = std::to_string(i);
    text.resize(1023, ' ');
    put(writer, text);
  }
}

/// Of all segments in order, without their headers: the number that each line begins with.
std::vector<int> numbers_in(const fs::path& folder) {
  std::vector<int> out;
  for (const std::string& name : files_in(folder)) {
    for (const std::string& line : lines_of(folder / name)) {
      if (!line.starts_with("header")) out.push_back(std::stoi(line));
    }
  }
  return out;
}

/// Every segment begins with its own header and has no other.
void check_headers(const fs::path& folder) {
  for (const std::string& name : files_in(folder)) {
    const std::vector<std::string> lines = lines_of(folder / name);
    INFO(name);
    REQUIRE_FALSE(lines.empty());
    const std::string header = "header " + std::to_string(std::stoi(name.substr(6)));
    CHECK(lines[0] == header);
    CHECK(std::count_if(lines.begin(), lines.end(),
                        [](const auto& line) { return line.starts_with("header"); }) == 1);
  }
}

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t sum = 0;
  for (const auto& entry : fs::directory_iterator(folder)) sum += entry.file_size();
  return sum;
}

}  // namespace

TEST_CASE("the folder and those above it are made, and lines reach the disk when flushed") {
  const TemporaryFolder temporary;
  const fs::path folder = temporary.path() / "a" / "rank=0";
  LossLedger loss;
  SegmentWriter writer(kRoomy, loss);
  REQUIRE(writer.open_folder(folder, false));
  put(writer, "first");

  CHECK(writer.flush());

  CHECK(lines_of(folder / "trace-00000.ndjson") == std::vector<std::string>{"header 0", "first"});
  CHECK(writer.bytes_written() == 15);
  CHECK(writer.folder() == folder);
}

TEST_CASE("a folder that holds a trace is refused and stays as it is") {
  const TemporaryFolder temporary;
  std::ofstream(temporary.path() / "trace-00003.ndjson") << "old\n";
  LossLedger loss;
  SegmentWriter writer(kRoomy, loss);

  CHECK_FALSE(writer.open_folder(temporary.path(), false));

  CHECK(writer.error().find("holds a trace already") != std::string::npos);
  CHECK(files_in(temporary.path()) == std::vector<std::string>{"trace-00003.ndjson"});
  CHECK(content(temporary.path() / "trace-00003.ndjson") == "old\n");
}

TEST_CASE("a summary alone, or a compressed segment, is a trace that is not overwritten") {
  for (const char* name : {"summary.json", "trace-00000.ndjson.zst"}) {
    const TemporaryFolder temporary;
    std::ofstream(temporary.path() / name) << "old";
    LossLedger loss;
    SegmentWriter writer(kRoomy, loss);

    CHECK_FALSE(writer.open_folder(temporary.path(), false));
  }
}

TEST_CASE("overwriting removes the files of a trace and no others") {
  const TemporaryFolder temporary;
  for (const char* name :
       {"trace-00000.ndjson", "trace-00007.ndjson.zst", "trace-00008.ndjson.tmp", "summary.json"}) {
    std::ofstream(temporary.path() / name) << "old";
  }
  const std::vector<std::string> others{"notes.txt", "summary.json.bak", "trace-00001.ndjson.txt",
                                        "trace-notes.ndjson", "trace-.ndjson"};
  for (const std::string& name : others) std::ofstream(temporary.path() / name) << "mine";
  LossLedger loss;
  SegmentWriter writer(kRoomy, loss);

  REQUIRE(writer.open_folder(temporary.path(), true));

  std::vector<std::string> expected = others;
  expected.push_back("trace-00000.ndjson.tmp");
  std::sort(expected.begin(), expected.end());
  CHECK(files_in(temporary.path()) == expected);
  CHECK(content(temporary.path() / "trace-00000.ndjson.tmp").empty());
}

TEST_CASE("a segment appears with its first lines: whoever is killed before leaves none without a header") {
  const TemporaryFolder temporary;
  const fs::path first = temporary.path() / "trace-00000.ndjson",
                 second = temporary.path() / "trace-00001.ndjson";
  LossLedger loss;
  SegmentWriter writer(kRoomy, loss);
  REQUIRE(writer.open_folder(temporary.path(), false));
  put(writer, "1");
  CHECK_FALSE(fs::exists(first));
  writer.rotate();
  CHECK(fs::exists(first));
  put(writer, "2");
  CHECK_FALSE(fs::exists(second));

  CHECK(writer.flush());

  CHECK(files_in(temporary.path()) == std::vector<std::string>{"trace-00000.ndjson", "trace-00001.ndjson"});
}

TEST_CASE("two that begin in one folder at once: the second is told so, whether the first has lines or not") {
  const TemporaryFolder temporary;
  LossLedger loss;
  SegmentWriter first(kRoomy, loss), second(kRoomy, loss);
  REQUIRE(first.open_folder(temporary.path(), false));

  CHECK_FALSE(second.open_folder(temporary.path(), false));
  CHECK(second.occupied());
  put(first, "1");
  CHECK(first.flush());
  CHECK_FALSE(second.open_folder(temporary.path(), false));

  CHECK(second.occupied());
  CHECK(files_in(temporary.path()) == std::vector<std::string>{"trace-00000.ndjson"});
}

TEST_CASE("where no line was written nothing is left") {
  const TemporaryFolder temporary;
  const fs::path folder = temporary.path() / "out";
  {
    LossLedger loss;
    SegmentWriter writer(kRoomy, loss);
    REQUIRE(writer.open_folder(folder, false));
    writer.remove_empty();
  }
  CHECK_FALSE(fs::exists(folder));
}

TEST_CASE("a place that cannot be a folder is an error with its name") {
  const TemporaryFolder temporary;
  std::ofstream(temporary.path() / "file") << "";
  LossLedger loss;
  for (const char* name : {"file", "file/below"}) {
    SegmentWriter writer(kRoomy, loss);
    const std::string folder = temporary.path() / name;

    CHECK_FALSE(writer.open_folder(folder, true));

    CHECK(writer.error() == "cannot make " + folder + ": Not a directory");
  }
}

TEST_CASE("a full segment is followed by the next, each with its own header, and no line is lost") {
  const TemporaryFolder temporary;
  LossLedger loss;
  SegmentWriter writer({kMiB, 0, false}, loss);
  REQUIRE(writer.open_folder(temporary.path(), false));

  put_kib(writer, 0, 3000);
  writer.flush();

  CHECK(files_in(temporary.path()).size() >= 3);
  check_headers(temporary.path());
  const std::vector<int> numbers = numbers_in(temporary.path());
  REQUIRE(numbers.size() == 3000);
  CHECK(std::is_sorted(numbers.begin(), numbers.end()));
  CHECK(loss.snapshot() == LossLedger{}.snapshot());
  CHECK(bytes_in(temporary.path()) == writer.bytes_written());
}

TEST_CASE("segments are as long as asked, but for what is written at once") {
  const TemporaryFolder temporary;
  LossLedger loss;
  SegmentWriter writer({kMiB, 0, false}, loss);
  REQUIRE(writer.open_folder(temporary.path(), false));

  put_kib(writer, 0, 4000);
  writer.flush();

  for (const std::string& name : files_in(temporary.path())) {
    CHECK(fs::file_size(temporary.path() / name) < kMiB + 300 * 1024);
  }
}

TEST_CASE("rotating by hand begins the next segment; with nothing written there is nothing to end") {
  const TemporaryFolder temporary;
  LossLedger loss;
  SegmentWriter writer(kRoomy, loss);
  REQUIRE(writer.open_folder(temporary.path(), false));
  writer.rotate();
  put(writer, "1");

  writer.rotate();
  writer.rotate();
  put(writer, "2");
  writer.flush();

  CHECK(files_in(temporary.path()) == std::vector<std::string>{"trace-00000.ndjson", "trace-00001.ndjson"});
  check_headers(temporary.path());
  CHECK(numbers_in(temporary.path()) == std::vector<int>{1, 2});
}

TEST_CASE("keep first: the beginning stays, the rest is counted, the bound holds") {
  const TemporaryFolder temporary;
  LossLedger loss;
  SegmentWriter writer({kMiB, 2 * kMiB, false}, loss);
  REQUIRE(writer.open_folder(temporary.path(), false));

  put_kib(writer, 0, 5000);
  writer.flush();
  put_kib(writer, 5000, 1);  // would fit, but must not follow lost ones
  writer.flush();

  CHECK(bytes_in(temporary.path()) <= 2 * kMiB);
  const std::vector<int> numbers = numbers_in(temporary.path());
  REQUIRE(numbers.size() > 1500);
  for (std::size_t i = 0; i < numbers.size(); ++i) REQUIRE(numbers[i] == static_cast<int>(i));
  CHECK(loss.get(Loss::lines_over_max_size) >= 5001 - numbers.size());
  CHECK(loss.get(Loss::lines_not_written) == 0);
}

TEST_CASE("keep last: the end stays, in whole segments, the bound holds, what is removed is counted") {
  const TemporaryFolder temporary;
  LossLedger loss;
  SegmentWriter writer({64 * kMiB, 2 * kMiB, true}, loss);
  REQUIRE(writer.open_folder(temporary.path(), false));

  put_kib(writer, 0, 10'000);
  writer.flush();

  CHECK(bytes_in(temporary.path()) <= 2 * kMiB);
  const std::vector<int> numbers = numbers_in(temporary.path());
  REQUIRE(numbers.size() > 1000);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    REQUIRE(numbers[i] == 10'000 - static_cast<int>(numbers.size() - i));
  check_headers(temporary.path());
  const std::size_t lines_written = 10'000 + writer.segment() + 1;  // a header each
  CHECK(loss.get(Loss::lines_over_max_size) ==
        lines_written - numbers.size() - files_in(temporary.path()).size());
}

TEST_CASE("the lines that end a trace go in although the bound is reached") {
  const TemporaryFolder temporary;
  LossLedger loss;
  SegmentWriter writer({kMiB, kMiB, false}, loss);
  REQUIRE(writer.open_folder(temporary.path(), false));
  put_kib(writer, 0, 2000);

  writer.lift_limit();
  put(writer, "4711");
  writer.flush();

  CHECK(numbers_in(temporary.path()).back() == 4711);
  check_headers(temporary.path());
}
