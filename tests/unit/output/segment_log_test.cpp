// SPDX-License-Identifier: Apache-2.0
#include "profiler/output/segment_log.h"

#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/output/open_segments.h"

using namespace rangefinder;
using namespace rangefinder::test;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMiB = 1 << 20;
/// Writes `count` lines of 1 KiB, numbered from `first`.
void put_kib(SegmentLog& writer, int first, int count) {
  for (int i = first; i < first + count; ++i) {
    std::string text = std::to_string(i);
    text.resize(1023, ' ');
    put(writer, text);
  }
}

/// The number at the start of each line of all segments, in order and without headers.
std::vector<int> numbers_in(const fs::path& folder) {
  std::vector<int> out;
  for (const std::string& name : files_in(folder)) {
    for (const std::string& line : lines_of(folder / name)) {
      if (!line.starts_with("header")) out.push_back(std::stoi(line));
    }
  }
  return out;
}

/// Checks that every segment begins with its own header and has no other.
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

TEST_CASE("the folder and its parents are created, and flush() writes the lines") {
  OpenSegments to(kRoomy, "a/rank=0");
  to.put("first");

  CHECK(to.writer.flush());

  CHECK(to.lines(0) == std::vector<std::string>{"header 0", "first"});
  CHECK(to.writer.bytes_written() == 15);
  CHECK(to.writer.folder() == to.folder);
}

TEST_CASE("a folder that holds a trace is refused and stays as it is") {
  const TemporaryFolder temporary;
  std::ofstream(temporary.path() / "trace-00003.ndjson") << "old\n";
  LossLedger loss;
  SegmentLog writer(kRoomy, loss);

  CHECK_FALSE(writer.open_folder(temporary.path(), false));

  CHECK(writer.error().find("holds a trace already") != std::string::npos);
  CHECK(files_in(temporary.path()) == std::vector<std::string>{"trace-00003.ndjson"});
  CHECK(content(temporary.path() / "trace-00003.ndjson") == "old\n");
}

TEST_CASE("a summary alone, or a compressed segment, counts as a trace and is not overwritten") {
  for (const char* name : {"summary.json", "trace-00000.ndjson.zst"}) {
    const TemporaryFolder temporary;
    std::ofstream(temporary.path() / name) << "old";
    LossLedger loss;
    SegmentLog writer(kRoomy, loss);

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
  SegmentLog writer(kRoomy, loss);

  REQUIRE(writer.open_folder(temporary.path(), true));

  std::vector<std::string> expected = others;
  expected.push_back("trace-00000.ndjson.tmp");
  std::sort(expected.begin(), expected.end());
  CHECK(files_in(temporary.path()) == expected);
  CHECK(content(temporary.path() / "trace-00000.ndjson.tmp").empty());
}

TEST_CASE("a segment appears with its first lines, so a kill leaves none without a header") {
  OpenSegments to;
  const fs::path first = to.path(0), second = to.path(1);
  to.put("1");
  CHECK_FALSE(fs::exists(first));
  to.writer.rotate();
  CHECK(fs::exists(first));
  to.put("2");
  CHECK_FALSE(fs::exists(second));

  CHECK(to.writer.flush());

  CHECK(to.files() == std::vector<std::string>{"trace-00000.ndjson", "trace-00001.ndjson"});
}

TEST_CASE("of two writers in one folder the second is refused, whether the first has lines or not") {
  const TemporaryFolder temporary;
  LossLedger loss;
  SegmentLog first(kRoomy, loss), second(kRoomy, loss);
  REQUIRE(first.open_folder(temporary.path(), false));

  CHECK_FALSE(second.open_folder(temporary.path(), false));
  CHECK(second.occupied());
  put(first, "1");
  CHECK(first.flush());
  CHECK_FALSE(second.open_folder(temporary.path(), false));

  CHECK(second.occupied());
  CHECK(files_in(temporary.path()) == std::vector<std::string>{"trace-00000.ndjson"});
}

TEST_CASE("without a written line no file and no folder is left") {
  const TemporaryFolder temporary;
  const fs::path folder = temporary.path() / "out";
  {
    LossLedger loss;
    SegmentLog writer(kRoomy, loss);
    REQUIRE(writer.open_folder(folder, false));
    writer.remove_empty();
  }
  CHECK_FALSE(fs::exists(folder));
}

TEST_CASE("a path that cannot be a folder is an error that names it") {
  const TemporaryFolder temporary;
  std::ofstream(temporary.path() / "file") << "";
  LossLedger loss;
  for (const char* name : {"file", "file/below"}) {
    SegmentLog writer(kRoomy, loss);
    const std::string folder = temporary.path() / name;

    CHECK_FALSE(writer.open_folder(folder, true));

    CHECK(writer.error() == "cannot create " + folder + ": Not a directory");
  }
}

TEST_CASE("after a full segment the next one begins with its own header, and no line is lost") {
  OpenSegments to({kMiB, 0, false});

  put_kib(to.writer, 0, 3000);
  to.writer.flush();

  CHECK(to.files().size() >= 3);
  check_headers(to.folder);
  const std::vector<int> numbers = numbers_in(to.folder);
  REQUIRE(numbers.size() == 3000);
  CHECK(std::is_sorted(numbers.begin(), numbers.end()));
  CHECK(to.loss.snapshot() == LossLedger{}.snapshot());
  CHECK(bytes_in(to.folder) == to.writer.bytes_written());
}

TEST_CASE("segments exceed the requested size by at most one write") {
  OpenSegments to({kMiB, 0, false});

  put_kib(to.writer, 0, 4000);
  to.writer.flush();

  for (const std::string& name : to.files()) {
    CHECK(fs::file_size(to.folder / name) < kMiB + 300 * 1024);
  }
}

TEST_CASE("rotate() begins the next segment, unless nothing was written") {
  OpenSegments to;
  to.writer.rotate();
  to.put("1");

  to.writer.rotate();
  to.writer.rotate();
  to.put("2");
  to.writer.flush();

  CHECK(to.files() == std::vector<std::string>{"trace-00000.ndjson", "trace-00001.ndjson"});
  check_headers(to.folder);
  CHECK(numbers_in(to.folder) == std::vector<int>{1, 2});
}

TEST_CASE("keep first: the first lines stay, the others are counted as lost, the bound holds") {
  OpenSegments to({kMiB, 2 * kMiB, false});

  put_kib(to.writer, 0, 5000);
  to.writer.flush();
  put_kib(to.writer, 5000, 1);  // would fit, but must not follow lost lines
  to.writer.flush();

  CHECK(bytes_in(to.folder) <= 2 * kMiB);
  const std::vector<int> numbers = numbers_in(to.folder);
  REQUIRE(numbers.size() > 1500);
  for (std::size_t i = 0; i < numbers.size(); ++i) REQUIRE(numbers[i] == static_cast<int>(i));
  CHECK(to.loss.get(Loss::lines_over_max_size) >= 5001 - numbers.size());
  CHECK(to.loss.get(Loss::lines_not_written) == 0);
}

TEST_CASE("keep last: the last segments stay, removed lines are counted as lost, the bound holds") {
  OpenSegments to({64 * kMiB, 2 * kMiB, true});

  put_kib(to.writer, 0, 10'000);
  to.writer.flush();

  CHECK(bytes_in(to.folder) <= 2 * kMiB);
  const std::vector<int> numbers = numbers_in(to.folder);
  REQUIRE(numbers.size() > 1000);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    REQUIRE(numbers[i] == 10'000 - static_cast<int>(numbers.size() - i));
  check_headers(to.folder);
  const std::size_t lines_written = 10'000 + to.writer.segment() + 1;  // a header each
  CHECK(to.loss.get(Loss::lines_over_max_size) == lines_written - numbers.size() - to.files().size());
}

TEST_CASE("the lines that end a trace are written although the bound is reached") {
  OpenSegments to({kMiB, kMiB, false});
  put_kib(to.writer, 0, 2000);

  to.writer.lift_limit();
  to.put("4711");
  to.writer.flush();

  CHECK(numbers_in(to.folder).back() == 4711);
  check_headers(to.folder);
}
