// SPDX-License-Identifier: Apache-2.0
//
// What daemons do at their start, between 10 launches in work/step and 10 more:
//
//   closefrom   closes all unknown file descriptors, reuses their numbers, and forks
//   chdir       changes the working directory
//   exec PROGRAM ARGS…   execs another program; the second 10 launches do not happen
//   streams     has no standard streams, before and after
//   remove folder|file   another process deletes the trace; 10 launches one second later
//   setuid N    root becomes a user without write permission; N launches before and after
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/injection/programs/gpu.h"

namespace {

constexpr unsigned kLaunches = 10;
constexpr std::chrono::milliseconds kSomeFlushes{600};
constexpr std::chrono::milliseconds kWritten{1300};

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
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    int closed = 0;
    for (int file = 3; file < kFiles; ++file) closed += fcntl(file, F_GETFD) < 0 ? 1 : 0;
    _exit(closed);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("closed in a child: %d\n", WEXITSTATUS(status));
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

void become(char* const* words) {
  const Gpu gpu;
  gpu.work(kLaunches);
  must(cuCtxSynchronize(), "cuCtxSynchronize");
  std::this_thread::sleep_for(kWritten);
  execv(words[0], words);
  std::exit(3);
}

void remove_trace(bool whole_folder) {
  namespace fs = std::filesystem;
  const Gpu gpu;
  gpu.work(kLaunches);
  std::this_thread::sleep_for(kSomeFlushes);
  for (const auto& folder : fs::directory_iterator(".")) {
    if (!folder.is_directory()) continue;
    if (whole_folder) {
      fs::remove_all(folder);
    } else {
      fs::remove(folder.path() / "trace-00000.ndjson");
    }
  }
  gpu.work(kLaunches);
  std::this_thread::sleep_for(kWritten);
  gpu.work(kLaunches);
}

bool has_standard_stream() {
  char byte = 0;
  return read(STDIN_FILENO, &byte, 1) >= 0 || errno != EBADF || write(STDOUT_FILENO, "printed\n", 8) >= 0 ||
         errno != EBADF || write(STDERR_FILENO, "printed\n", 8) >= 0 || errno != EBADF;
}

void close_streams() {
  for (int file = STDIN_FILENO; file <= STDERR_FILENO; ++file) close(file);
  const Gpu gpu;
  for (int i = 0; i < 2; ++i) {
    gpu.work(kLaunches);
    std::this_thread::sleep_for(kSomeFlushes);
    if (has_standard_stream()) std::exit(4);
  }
}

void drop_rights(unsigned launches) {
  constexpr uid_t kNobody = 65534;
  const Gpu gpu;
  gpu.work(launches);
  std::this_thread::sleep_for(kSomeFlushes);
  if (setgid(kNobody) != 0 || setuid(kNobody) != 0) std::exit(3);
  gpu.work(launches);
  must(cuCtxSynchronize(), "cuCtxSynchronize");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string_view how = argv[1];
  if (how == "closefrom") close_unknown_files();
  if (how == "chdir") change_folder();
  if (how == "exec" && argc > 2) become(argv + 2);
  if (how == "streams") close_streams();
  if (how == "remove" && argc > 2) remove_trace(argv[2] == std::string_view("folder"));
  if (how == "setuid" && argc > 2) drop_rights(static_cast<unsigned>(std::atoi(argv[2])));
  std::puts("done");
  return 0;
}
