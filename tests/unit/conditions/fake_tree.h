// SPDX-License-Identifier: Apache-2.0
//
// A folder that stands for / with files of /proc and of cgroups, for tests.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/catch.h"

namespace rangefinder::test {

class FakeTree {
 public:
  FakeTree() {
    char made[] = "/tmp/rangefinder-tree-XXXXXX";
    REQUIRE(mkdtemp(made) != nullptr);
    root_ = made;
  }
  ~FakeTree() { std::filesystem::remove_all(root_); }
  FakeTree(const FakeTree&) = delete;
  FakeTree& operator=(const FakeTree&) = delete;

  /// Changes the content of the same file, as the kernel does.
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::trunc) << text;
  }
  [[nodiscard]] const std::string& root() const { return root_; }

 private:
  std::string root_;
};

}  // namespace rangefinder::test
