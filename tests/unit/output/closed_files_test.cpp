// SPDX-License-Identifier: Apache-2.0
//
// An application closes the descriptors of our files and reuses their numbers.
#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "profiler/output/segment_log.h"
#include "tests/catch.h"
#include "tests/unit/output/written_trace.h"

using namespace rangefinder;
using namespace rangefinder::test;
namespace fs = std::filesystem;

namespace {

constexpr SegmentLimits kOneMiB{1 << 20, 0, false};

void put(SegmentLog& writer, const std::string& text) {
  (void)writer.begin_segment_if_needed();
  writer.text() += text + "\n";
  writer.line_done();
}

/// The descriptor of `file` in this process; -1: it is not open.
int descriptor_of(const fs::path& file) {
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (fs::read_symlink(entry.path(), gone) == file) return std::stoi(entry.path().filename());
  }
  return -1;
}

}  // namespace

TEST_CASE("if an application reuses our descriptor, its file stays untouched and no line is lost") {
  const TemporaryFolder temporary;
  const fs::path folder = temporary.path() / "trace", theirs = temporary.path() / "theirs";
  LossLedger loss;
  SegmentLog writer(kOneMiB, loss);
  REQUIRE(writer.open_folder(folder, false));
  const auto take_descriptor = [&theirs](const fs::path& of) {
    const int ours = descriptor_of(of);
    REQUIRE(ours >= 0);
    const int file = open(theirs.c_str(), O_WRONLY | O_CREAT, 0600);
    REQUIRE(dup2(file, ours) == ours);
    close(file);
    return ours;
  };

  const int before_the_first_line = take_descriptor(folder / "trace-00000.ndjson.tmp");
  put(writer, "first");
  CHECK(writer.flush());
  const int after_it = take_descriptor(folder / "trace-00000.ndjson");
  put(writer, "second");
  writer.rotate();
  put(writer, "third");
  CHECK(writer.flush());
  const int of_the_removed = take_descriptor(folder / "trace-00001.ndjson");
  fs::remove(folder / "trace-00001.ndjson");
  put(writer, "lost");
  CHECK_FALSE(writer.flush());  // the file has no name any more
  put(writer, "fourth");
  CHECK(writer.flush());

  CHECK(lines_of(folder / "trace-00000.ndjson") == std::vector<std::string>{"first", "second"});
  CHECK(lines_of(folder / "trace-00002.ndjson") == std::vector<std::string>{"fourth"});
  CHECK(content(theirs).empty());
  CHECK(loss.get(Loss::lines_not_written) == 1);
  for (const int file : {before_the_first_line, after_it, of_the_removed})
    CHECK(fs::equivalent("/proc/self/fd/" + std::to_string(file), theirs));  // not closed
}
