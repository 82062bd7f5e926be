// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/unit_source.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_rows.h"

namespace rangefinder::unit_source_test {
namespace {

struct Units {
  std::vector<std::string> texts;
  bool torn = false, too_long = false;

  [[nodiscard]] std::string all() const {
    std::string out;
    for (const std::string& text : texts) out += text;
    return out;
  }
  /// All but the last unit end a line.
  [[nodiscard]] bool whole_lines() const {
    for (std::size_t i = 0; i + 1 < texts.size(); ++i) {
      if (texts[i].empty() || texts[i].back() != '\n') return false;
    }
    return true;
  }
};

/// Reads a file to its end, and checks the bytes behind each unit.
Units units_of(const std::filesystem::path& file, std::size_t unit_bytes) {
  Units out;
  UnitSource source(file, unit_bytes);
  UnitText unit;
  do {
    source.next(unit);
    out.too_long = out.too_long || unit.too_long;
    if (out.too_long) return out;
    out.texts.emplace_back(unit.text());
    out.torn = out.torn || unit.torn;
    for (std::size_t i = 0; i < UnitText::kPadding; ++i) {
      if (unit.memory[unit.size + i] != '\0') FAIL("bytes behind a unit");
    }
  } while (!unit.last);
  return out;
}

struct MadeSegment {
  explicit MadeSegment(const std::string& text, bool compressed = false, std::size_t cut = 0)
      : path(folder.path() / "trace-00000.ndjson") {
    test::write_file(path, text);
    if (!compressed) return;
    test::compress_segment(path, cut);
    path += ".zst";
  }
  test::TemporaryFolder folder;
  std::filesystem::path path;
};

}  // namespace

TEST_CASE("units of any size are whole lines, and together the file") {
  for (const char* const name : {"managed_memory", "multi_stream", "decoder_exact"}) {
    const auto file = test::golden(name) / "trace-00000.ndjson";
    const std::string text = test::content(file);
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{1'000}, std::size_t{4'096}, text.size() - 1,
                                    text.size(), text.size() + 1, UnitSource::kUnitBytes}) {
      CAPTURE(name, bytes);
      const Units units = units_of(file, bytes);

      CHECK((units.all() == text));
      CHECK(units.whole_lines());
      CHECK_FALSE(units.torn);
      CHECK(units.texts.size() >= text.size() / (bytes + 20'000));
    }
  }
}

TEST_CASE("a compressed segment has the same lines") {
  const std::string text = test::content(test::golden("multi_stream") / "trace-00000.ndjson");
  const MadeSegment segment(text, true);

  const Units units = units_of(segment.path, 5'000);

  CHECK((units.all() == text));
  CHECK(units.whole_lines());
  CHECK_FALSE(units.torn);
}

TEST_CASE("a line that is longer than a unit is in one unit") {
  const std::string line = std::string(100'000, 'x') + "\n";
  const MadeSegment segment("a\n" + line + "b\n" + line);

  const Units units = units_of(segment.path, 10);

  CHECK((units.all() == "a\n" + line + "b\n" + line));
  CHECK(units.whole_lines());
}

TEST_CASE("a file that ends within a line is torn, in any size of units") {
  for (const std::size_t bytes : {1UL, 3UL, 8UL, 100UL}) {
    CAPTURE(bytes);
    const Units torn = units_of(MadeSegment("one\ntwo\nthr").path, bytes);

    CHECK(torn.torn);
    CHECK(torn.all() == "one\ntwo\nthr");
    CHECK_FALSE(units_of(MadeSegment("one\ntwo\n").path, bytes).torn);
  }
}

TEST_CASE("an empty file is one empty unit that is not torn") {
  const Units units = units_of(MadeSegment("").path, 100);

  CHECK(units.texts == std::vector<std::string>{""});
  CHECK_FALSE(units.torn);
}

TEST_CASE("a compressed segment that is cut is torn, and has the lines before the cut") {
  const std::string text = test::content(test::golden("decoder_exact") / "trace-00000.ndjson");
  const MadeSegment segment(text, true, 1'000);

  const Units units = units_of(segment.path, 100'000);

  CHECK(units.torn);
  CHECK(units.whole_lines());
  CHECK(text.starts_with(units.all()));
}

TEST_CASE("the memory of a unit is used again") {
  const MadeSegment segment("first\nsecond\nthird\n");
  UnitSource source(segment.path, 7);
  UnitText unit;
  source.next(unit);
  const char* const memory = unit.memory.get();
  source.next(unit);

  CHECK(unit.text() == "second\n");
  CHECK(unit.memory.get() == memory);
}

TEST_CASE("a line without an end is not read into memory as a whole") {
  const MadeSegment segment("one\n");
  std::filesystem::resize_file(segment.path, std::uintmax_t{1} << 40);  // sparse: takes no space

  CHECK(units_of(segment.path, UnitSource::kUnitBytes).too_long);
}

TEST_CASE("only regular files are opened: a FIFO would wait for a writer, and a device has no end") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "trace-00000.ndjson";
  SECTION("a FIFO") {
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  }
  SECTION("a link to a device") {
    std::filesystem::create_symlink("/dev/zero", path);
  }
  SECTION("a folder") {
    std::filesystem::create_directory(path);
  }

  CHECK_THROWS_WITH(UnitSource(path), Catch::Matchers::EndsWith("it is not a regular file"));
}

TEST_CASE("a compressed segment that expands without end is refused") {
  const MadeSegment made(std::string(std::size_t{100} << 20, '\n'), true);

  CHECK_THROWS_WITH(units_of(made.path, UnitSource::kUnitBytes),
                    Catch::Matchers::EndsWith("expands to more than 1,000 times its size, so this is not a "
                                              "trace file"));
}

}  // namespace rangefinder::unit_source_test
