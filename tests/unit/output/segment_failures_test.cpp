// SPDX-License-Identifier: Apache-2.0
//
// Disks that take a part, nothing, or something again later.
#include <string>
#include <vector>

#include "profiler/output/segment_writer.h"
#include "tests/catch.h"
#include "tests/unit/output/full_disk.h"
#include "tests/unit/output/written_trace.h"

using namespace rangefinder;
using namespace rangefinder::test;
namespace fs = std::filesystem;

namespace {

constexpr SegmentLimits kRoomy{std::uint64_t{256} << 20, 0, false};

void put(SegmentWriter& writer, const std::string& text) {
  writer.commit();
  if (writer.begins_segment()) {
    writer.text() += "header " + std::to_string(writer.segment()) + "\n";
    writer.line_done();
  }
  writer.text() += text + "\n";
  writer.line_done();
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a write cut short is taken back to whole lines, and its lines are counted") {
  const TemporaryFolder temporary;
  LossLedger loss;
  SegmentWriter writer(kRoomy, loss);
  REQUIRE(writer.open_folder(temporary.path(), false));
  put(writer, "kept");
  REQUIRE(writer.flush());

  bool flushed = true;
  {
    const FullDisk full(20);
    put(writer, "lost, one");
    put(writer, "lost, two");
    flushed = writer.flush();
  }

  CHECK_FALSE(flushed);
  CHECK(lines_of(temporary.path() / "trace-00000.ndjson") == Lines{"header 0", "kept"});
  CHECK(loss.get(Loss::lines_not_written) == 2);
  CHECK(writer.error().find("cannot write " + (temporary.path() / "trace-00000.ndjson").string()) == 0);
  CHECK(writer.bytes_written() == 14);
}

TEST_CASE("when there is room again what follows stands alone, with a header of its own") {
  const TemporaryFolder temporary;
  LossLedger loss;
  SegmentWriter writer(kRoomy, loss);
  REQUIRE(writer.open_folder(temporary.path(), false));
  put(writer, "kept");
  REQUIRE(writer.flush());
  {
    const FullDisk full(20);
    put(writer, "lost and longer");
    (void)writer.flush();
  }

  put(writer, "kept again");
  CHECK(writer.flush());

  CHECK(lines_of(temporary.path() / "trace-00000.ndjson") == Lines{"header 0", "kept"});
  CHECK(lines_of(temporary.path() / "trace-00001.ndjson") == Lines{"header 1", "kept again"});
  CHECK(loss.get(Loss::lines_not_written) == 1);
}

TEST_CASE("a disk that stays full does not fill up with empty segments") {
  const TemporaryFolder temporary;
  LossLedger loss;
  SegmentWriter writer(kRoomy, loss);
  REQUIRE(writer.open_folder(temporary.path(), false));
  put(writer, "kept");
  REQUIRE(writer.flush());
  {
    const FullDisk full(8);  // not even a header fits
    for (int i = 0; i < 50; ++i) {
      put(writer, "lost");
      (void)writer.flush();
    }
  }

  CHECK(files_in(temporary.path()).size() <= 2);
  CHECK(loss.get(Loss::lines_not_written) >= 50);
}

TEST_CASE("where the next segment cannot be made the one before goes on, until it can") {
  const TemporaryFolder temporary;
  LossLedger loss;
  SegmentWriter writer({1 << 20, 0, false}, loss);
  REQUIRE(writer.open_folder(temporary.path(), false));
  const std::string mebibyte(1 << 20, '.');
  put(writer, mebibyte);
  REQUIRE(writer.flush());                                        // full
  fs::create_directory(temporary.path() / "trace-00001.ndjson");  // stands where the segment would be
  for (const char* const text : {"goes on", "and on"}) {
    put(writer, text);
    CHECK(writer.flush());
  }
  CHECK(writer.error().empty());

  fs::remove(temporary.path() / "trace-00001.ndjson");
  put(writer, "next");
  CHECK(writer.flush());

  CHECK(lines_of(temporary.path() / "trace-00000.ndjson") ==
        Lines{"header 0", mebibyte, "goes on", "and on"});
  CHECK(lines_of(temporary.path() / "trace-00001.ndjson") == Lines{"header 1", "next"});
  CHECK(files_in(temporary.path()).size() == 2);
  CHECK(loss.get(Loss::lines_not_written) == 0);
}

TEST_CASE("no bound is exceeded where no other segment can be made, nor any removed") {
  const TemporaryFolder temporary;
  LossLedger loss;
  const SegmentLimits limits{256 << 20, 1 << 20, true};
  SegmentWriter writer(limits, loss);
  REQUIRE(writer.open_folder(temporary.path(), false));
  fs::create_directory(temporary.path() / "trace-00001.ndjson");
  const std::string kibibyte(1023, '.');
  for (int i = 0; i < 4000; ++i) put(writer, kibibyte);
  (void)writer.flush();

  CHECK(fs::file_size(temporary.path() / "trace-00000.ndjson") <= limits.max_bytes);
  CHECK(loss.get(Loss::lines_over_max_size) + loss.get(Loss::lines_not_written) > 2500);
}

TEST_CASE("a segment that somebody removes costs the lines that wait, whether it had any or not") {
  const TemporaryFolder temporary;
  LossLedger loss;
  SegmentWriter writer(kRoomy, loss);
  REQUIRE(writer.open_folder(temporary.path(), false));
  put(writer, "lost");
  fs::remove(temporary.path() / "trace-00000.ndjson.tmp");
  CHECK_FALSE(writer.flush());
  put(writer, "gone with it");
  CHECK(writer.flush());
  fs::remove(temporary.path() / "trace-00000.ndjson");
  put(writer, "lost, too");
  CHECK_FALSE(writer.flush());
  CHECK(writer.error().find("somebody has removed it") != std::string::npos);
  put(writer, "kept");
  CHECK(writer.flush());

  CHECK(files_in(temporary.path()) == Lines{"trace-00001.ndjson"});
  CHECK(lines_of(temporary.path() / "trace-00001.ndjson") == Lines{"header 1", "kept"});
  CHECK(loss.get(Loss::lines_not_written) == 3);  // with the first header
}

TEST_CASE("a folder that is removed costs the lines, and one that is there again gets a header") {
  const TemporaryFolder temporary;
  const fs::path folder = temporary.path() / "trace";
  LossLedger loss;
  SegmentWriter writer(kRoomy, loss);
  REQUIRE(writer.open_folder(folder, false));
  put(writer, "gone with it");
  REQUIRE(writer.flush());
  fs::remove_all(folder);
  writer.rotate();
  put(writer, "lost");
  CHECK_FALSE(writer.flush());
  CHECK(writer.error().find("No such file") != std::string::npos);

  fs::create_directory(folder);
  put(writer, "kept again");
  CHECK(writer.flush());

  CHECK(lines_of(folder / "trace-00001.ndjson") == Lines{"header 1", "kept again"});
  CHECK(loss.get(Loss::lines_not_written) == 2);  // with the header that it began with
}

TEST_CASE("a link that stands in a segment's place is not written through") {
  const TemporaryFolder temporary;
  LossLedger loss;
  SegmentWriter writer(kRoomy, loss);
  REQUIRE(writer.open_folder(temporary.path(), false));
  put(writer, "kept");
  std::ofstream(temporary.path() / "victim") << "mine\n";
  fs::create_symlink(temporary.path() / "victim", temporary.path() / "trace-00001.ndjson");
  writer.rotate();

  put(writer, "kept, too");
  CHECK(writer.flush());

  CHECK(lines_of(temporary.path() / "victim") == Lines{"mine"});
  CHECK(lines_of(temporary.path() / "trace-00000.ndjson") == Lines{"header 0", "kept", "kept, too"});
  CHECK(loss.get(Loss::lines_not_written) == 0);
}
