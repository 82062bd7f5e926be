// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tools/analysis/model/missing.h"
#include "tools/export/output_file.h"

using namespace rangefinder;
using rangefinder::test::content;
using rangefinder::test::TemporaryFolder;

namespace {

struct Target {
  TemporaryFolder folder;
  std::filesystem::path file = folder.path() / "out.json";
};

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    out.push_back(entry.path().filename());
  return out;
}

}  // namespace

TEST_CASE("a file gets its name at commit") {
  const Target target;
  OutputFile file(target.file, Overwrite::no);
  file.text() += "[]";

  CHECK_FALSE(std::filesystem::exists(target.file));
  file.commit();

  CHECK(content(target.file) == "[]");
  CHECK(names_in(target.folder.path()) == std::vector<std::string>{"out.json"});
}

TEST_CASE("a file without commit leaves nothing behind") {
  const TemporaryFolder folder;
  {
    OutputFile file(folder.path() / "out.json", Overwrite::no);
    file.text().assign(OutputFile::kBufferBytes, 'x');
    file.drain();
    REQUIRE(file.bytes_written() == OutputFile::kBufferBytes);
  }

  CHECK(names_in(folder.path()).empty());
}

TEST_CASE("a target that another process creates meanwhile is not overwritten") {
  const Target target;
  {
    OutputFile file(target.file, Overwrite::no);
    file.text() += "new";
    std::ofstream(target.file) << "theirs";

    CHECK_THROWS_AS(file.commit(), TargetExists);
  }

  CHECK(content(target.file) == "theirs");
  CHECK(names_in(target.folder.path()).size() == 1);
}

TEST_CASE("an existing target is replaced on request") {
  const Target target;
  std::ofstream(target.file) << "old";
  OutputFile file(target.file, Overwrite::yes);
  file.text() += "new";
  CHECK(content(target.file) == "old");

  file.commit();

  CHECK(content(target.file) == "new");
}

TEST_CASE("a folder that does not exist or is a file throws Missing") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "x";

  CHECK_THROWS_AS(OutputFile(folder.path() / "no" / "out.json", Overwrite::no), Missing);
  CHECK_THROWS_AS(OutputFile(folder.path() / "file" / "out.json", Overwrite::no), Missing);
  CHECK_THROWS_AS(OutputFile(folder.path(), Overwrite::yes), Missing);
  CHECK_THROWS_AS(OutputFolder(folder.path() / "file"), Missing);
}

TEST_CASE("a full disk is reported with the system's message") {
  OutputFile file("/dev/full", Overwrite::no);
  file.text() += "x";

  CHECK_THROWS_WITH(file.commit(),
                    "cannot write /dev/full: No space left on device\n  Name another place with --out.");
}

TEST_CASE("a folder created for results is removed with them") {
  const TemporaryFolder folder;
  { OutputFolder results(folder.path() / "results"); }
  CHECK(names_in(folder.path()).empty());
  {
    OutputFolder results(folder.path() / "results");
    results.commit();
  }

  CHECK(names_in(folder.path()).size() == 1);
}

TEST_CASE("more files than slots are refused, and slots are reused") {
  const TemporaryFolder folder;
  const auto open_many = [&] {
    std::vector<std::unique_ptr<TemporaryTarget>> files;
    for (int i = 0; i < 100; ++i) {
      files.push_back(std::make_unique<TemporaryTarget>(folder.path() / std::to_string(i), Overwrite::no));
    }
  };

  CHECK_THROWS_AS(open_many(), Missing);
  CHECK_THROWS_AS(open_many(), Missing);

  CHECK(names_in(folder.path()).empty());
}

TEST_CASE("a signal removes unfinished files and folders and then ends the process") {
  const TemporaryFolder folder;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // Remove Catch's own handlers.
    std::signal(SIGTERM, SIG_DFL);
    const OutputFolder results(folder.path() / "results");
    const OutputFile file(folder.path() / "results" / "out.json", Overwrite::no);
    std::raise(SIGTERM);
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);

  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
  CHECK(names_in(folder.path()).empty());
}
