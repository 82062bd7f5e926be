// SPDX-License-Identifier: Apache-2.0
//
// Segments on disks that accept part of a write or nothing, and files that are removed.
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/output/full_disk.h"
#include "tests/unit/output/open_segments.h"

using namespace rangefinder;
using namespace rangefinder::test;
namespace fs = std::filesystem;

namespace {

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a partial write is truncated to whole lines, and its lines are counted as lost") {
  OpenSegments to;
  to.put("kept");
  REQUIRE(to.writer.flush());

  bool flushed = true;
  {
    const FullDisk full(20);
    to.put("lost, one");
    to.put("lost, two");
    flushed = to.writer.flush();
  }

  CHECK_FALSE(flushed);
  CHECK(to.lines(0) == Lines{"header 0", "kept"});
  CHECK(to.loss.get(Loss::lines_not_written) == 2);
  CHECK(to.writer.error().find("cannot write " + to.path(0).string()) == 0);
  CHECK(to.writer.bytes_written() == 14);
}

TEST_CASE("when there is room again, a new segment with its own header begins") {
  OpenSegments to;
  to.put("kept");
  REQUIRE(to.writer.flush());
  {
    const FullDisk full(20);
    to.put("lost and longer");
    (void)to.writer.flush();
  }

  to.put("kept again");
  CHECK(to.writer.flush());

  CHECK(to.lines(0) == Lines{"header 0", "kept"});
  CHECK(to.lines(1) == Lines{"header 1", "kept again"});
  CHECK(to.loss.get(Loss::lines_not_written) == 1);
}

TEST_CASE("a disk that stays full does not fill up with empty segments") {
  OpenSegments to;
  to.put("kept");
  REQUIRE(to.writer.flush());
  {
    const FullDisk full(8);  // not even a header fits
    for (int i = 0; i < 50; ++i) {
      to.put("lost");
      (void)to.writer.flush();
    }
  }

  CHECK(to.files().size() <= 2);
  CHECK(to.loss.get(Loss::lines_not_written) >= 50);
}

TEST_CASE("while the next segment cannot be created, the current one goes on") {
  OpenSegments to({1 << 20, 0, false});
  const std::string mebibyte(1 << 20, '.');
  to.put(mebibyte);
  REQUIRE(to.writer.flush());        // the segment is full
  fs::create_directory(to.path(1));  // in the place of the next segment
  for (const char* const text : {"goes on", "and on"}) {
    to.put(text);
    CHECK(to.writer.flush());
  }
  CHECK(to.writer.error().empty());

  fs::remove(to.path(1));
  to.put("next");
  CHECK(to.writer.flush());

  CHECK(to.lines(0) == Lines{"header 0", mebibyte, "goes on", "and on"});
  CHECK(to.lines(1) == Lines{"header 1", "next"});
  CHECK(to.files().size() == 2);
  CHECK(to.loss.get(Loss::lines_not_written) == 0);
}

TEST_CASE("no bound is exceeded if no segment can be created or removed") {
  const SegmentLimits limits{256 << 20, 1 << 20, true};
  OpenSegments to(limits);
  fs::create_directory(to.path(1));
  const std::string kibibyte(1023, '.');
  for (int i = 0; i < 4000; ++i) to.put(kibibyte);
  (void)to.writer.flush();

  CHECK(fs::file_size(to.path(0)) <= limits.max_bytes);
  CHECK(to.loss.get(Loss::lines_over_max_size) + to.loss.get(Loss::lines_not_written) > 2500);
}

TEST_CASE("a removed segment costs the buffered lines, with or without written lines") {
  OpenSegments to;
  to.put("lost");
  fs::remove(to.folder / "trace-00000.ndjson.tmp");
  CHECK_FALSE(to.writer.flush());
  to.put("gone with it");
  CHECK(to.writer.flush());
  fs::remove(to.path(0));
  to.put("lost, too");
  CHECK_FALSE(to.writer.flush());
  CHECK(to.writer.error().find("the file was removed") != std::string::npos);
  to.put("kept");
  CHECK(to.writer.flush());

  CHECK(to.files() == Lines{"trace-00001.ndjson"});
  CHECK(to.lines(1) == Lines{"header 1", "kept"});
  CHECK(to.loss.get(Loss::lines_not_written) == 3);  // with the first header
}

TEST_CASE("a removed folder costs the lines, and a recreated one gets a header") {
  OpenSegments to(kRoomy, "trace");
  to.put("gone with it");
  REQUIRE(to.writer.flush());
  fs::remove_all(to.folder);
  to.writer.rotate();
  to.put("lost");
  CHECK_FALSE(to.writer.flush());
  CHECK(to.writer.error().find("No such file") != std::string::npos);

  fs::create_directory(to.folder);
  to.put("kept again");
  CHECK(to.writer.flush());

  CHECK(to.lines(1) == Lines{"header 1", "kept again"});
  CHECK(to.loss.get(Loss::lines_not_written) == 2);  // with its header
}

TEST_CASE("a link in the place of a segment is not written through") {
  OpenSegments to;
  to.put("kept");
  std::ofstream(to.folder / "victim") << "mine\n";
  fs::create_symlink(to.folder / "victim", to.path(1));
  to.writer.rotate();

  to.put("kept, too");
  CHECK(to.writer.flush());

  CHECK(lines_of(to.folder / "victim") == Lines{"mine"});
  CHECK(to.lines(0) == Lines{"header 0", "kept", "kept, too"});
  CHECK(to.loss.get(Loss::lines_not_written) == 0);
}
