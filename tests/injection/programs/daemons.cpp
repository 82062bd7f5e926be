// SPDX-License-Identifier: Apache-2.0
//
// What programs do that become daemons, between 10 launches in work/step and 10 more:
//
//   closefrom   they close all files that they do not know, and have their own with those numbers
//   chdir       they go to another folder
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/injection/programs/gpu.h"

namespace {

constexpr unsigned kLaunches = 10;
constexpr std::chrono::milliseconds kSomeFlushes{600};

bool is_as_written(const std::string& name) {
  std::array<char, 64> text{};
  const int file = open(name.c_str(), O_RDONLY);
  const ssize_t bytes = read(file, text.data(), text.size());
  close(file);
  return std::string_view(text.data(), bytes < 0 ? 0 : static_cast<std::size_t>(bytes)) == name;
}

void close_unknown_files() {
  constexpr int kFiles = 64;
  const Gpu gpu;
  gpu.work(kLaunches);
  std::this_thread::sleep_for(kSomeFlushes);
  for (int file = 3; file < kFiles; ++file) close(file);
  std::vector<std::string> names;
  for (int number = 3; number < kFiles; ++number) {
    names.push_back("own-" + std::to_string(number));
    const int file = open(names.back().c_str(), O_RDWR | O_CREAT | O_APPEND, 0600);
    if (write(file, names.back().data(), names.back().size()) < 0) std::exit(3);
  }
  gpu.work(kLaunches);
  std::this_thread::sleep_for(kSomeFlushes);
  std::printf("own files: %s\n",
              std::all_of(names.begin(), names.end(), is_as_written) ? "as written" : "spoilt");
}

void change_folder() {
  const Gpu gpu;
  gpu.work(kLaunches);
  std::this_thread::sleep_for(kSomeFlushes);
  if (chdir("/") != 0) std::exit(3);
  gpu.work(kLaunches);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string_view how = argv[1];
  if (how == "closefrom") close_unknown_files();
  if (how == "chdir") change_folder();
  std::puts("done");
  return 0;
}
