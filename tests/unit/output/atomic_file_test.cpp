// SPDX-License-Identifier: Apache-2.0
#include "profiler/output/atomic_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/catch.h"
#include "tests/unit/output/full_disk.h"

using namespace rangefinder;

namespace {

std::string temporary_folder() {
  std::string folder = (std::filesystem::temp_directory_path() / "rangefinder-summary-XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  return folder;
}

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a file is replaced as a whole, and no temporary file stays") {
  const std::string folder = temporary_folder(), path = folder + "/summary.json";

  REQUIRE(write_atomically(path, "first, and longer"));
  REQUIRE(write_atomically(path, "second"));

  CHECK(content(path) == "second");
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);
  std::filesystem::remove_all(folder);
}

TEST_CASE("if a file cannot be written, the old one stays and errno holds the reason") {
  const std::string folder = temporary_folder(), path = folder + "/summary.json";
  REQUIRE(write_atomically(path, "old"));
  std::filesystem::create_directory(path + ".tmp");  // in the place of the temporary file

  CHECK_FALSE(write_atomically(path, "new"));
  CHECK(errno == EISDIR);

  CHECK(content(path) == "old");
  CHECK_FALSE(write_atomically(folder + "/missing/summary.json", "new"));
  CHECK(errno == ENOENT);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a full disk leaves the old file") {
  const std::string folder = temporary_folder(), path = folder + "/summary.json";
  REQUIRE(write_atomically(path, "old"));
  {
    const test::FullDisk disk(2);
    CHECK_FALSE(write_atomically(path, "newer"));
    CHECK(errno == EFBIG);
  }

  CHECK(content(path) == "old");
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a link in the place of the temporary file is not written through") {
  const std::string folder = temporary_folder(), path = folder + "/summary.json";
  REQUIRE(write_atomically(folder + "/victim", "mine"));
  std::filesystem::create_symlink(folder + "/victim", path + ".tmp");

  REQUIRE(write_atomically(path, "new"));

  CHECK(content(folder + "/victim") == "mine");
  CHECK(content(path) == "new");
  std::filesystem::remove_all(folder);
}

TEST_CASE("only the user may read what is written") {
  const std::string folder = temporary_folder(), path = folder + "/summary.json";
  REQUIRE(write_atomically(path, "text"));

  CHECK(std::filesystem::status(path).permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  std::filesystem::remove_all(folder);
}

TEST_CASE("a pipe is written to and stays a pipe") {
  const std::string folder = temporary_folder(), path = folder + "/pipe";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);

  REQUIRE(write_atomically(path, "text"));

  char text[8] = {};
  CHECK(::read(reader, text, sizeof(text)) == 4);
  CHECK(std::string(text) == "text");
  CHECK(std::filesystem::is_fifo(path));
  close(reader);
  CHECK_FALSE(write_atomically(path, "no reader"));
  std::filesystem::remove_all(folder);
}
