// SPDX-License-Identifier: Apache-2.0
#include "profiler/output/process_facts.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>

#include "profiler/base/monotonic_clock.h"
#include "profiler/base/out_template.h"
#include "profiler/events/recorder.h"

namespace rangefinder {
namespace {

std::string read_file(const std::string& path, std::size_t max_bytes) {
  std::string text;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  std::array<char, 4096> part;
  ssize_t n = 0;
  while (text.size() < max_bytes && (n = read(file, part.data(), part.size())) > 0) {
    text.append(part.data(), static_cast<std::size_t>(n));
  }
  close(file);
  return text;
}

std::vector<std::string> read_command() {
  constexpr std::size_t kMaxBytes = 65'536;
  std::vector<std::string> words;
  const std::string text = read_file("/proc/self/cmdline", kMaxBytes);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::string read_executable() {
  std::array<char, PATH_MAX> path;
  const ssize_t n = readlink("/proc/self/exe", path.data(), path.size());
  return n > 0 ? std::string(path.data(), static_cast<std::size_t>(n)) : std::string();
}

constexpr std::string_view kDigits = "0123456789";

/// "550.54.14", not "x86_64": numbers with dots between them.
bool is_release(std::string_view word) {
  return word.find('.') != std::string_view::npos && word.find("..") == std::string_view::npos &&
         word.find_first_not_of("0123456789.") == std::string_view::npos &&
         kDigits.find(word.front()) != std::string_view::npos &&
         kDigits.find(word.back()) != std::string_view::npos;
}

}  // namespace

std::string driver_release_in(std::string_view text) {
  constexpr std::string_view kMark = "NVRM version:";
  const std::size_t begin = text.find(kMark);
  if (begin == std::string_view::npos) return {};
  std::string_view line = text.substr(begin + kMark.size());
  line = line.substr(0, line.find('\n'));
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    if (!word.empty() && is_release(word)) return std::string(word);
    line.remove_prefix(std::min(word.size() + 1, line.size()));
  }
  return {};
}

std::string read_driver_release() {
  return driver_release_in(read_file("/proc/driver/nvidia/version", 4096));
}

Header read_process_facts(bool redact) {
  Header header;
  header.base_unix_ns = clock_now_ns();
  header.base_monotonic_ns = monotonic_now_ns();
  header.tool_version = RANGEFINDER_VERSION;
  header.pid = getpid();
  header.parent_pid = getppid();
  std::array<char, HOST_NAME_MAX + 1> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) header.host = host.data();
  header.executable = read_executable();
  if (!redact) header.command = read_command();
  header.driver_release = read_driver_release();
  const auto lookup = [](const char* name) { return std::getenv(name); };
  header.rank = rank_from(lookup);
  header.ranks = ranks_from(lookup);
  return header;
}

std::string thread_comm(std::uint32_t thread) {
  std::string name = read_file("/proc/self/task/" + std::to_string(thread) + "/comm", 64);
  if (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

}  // namespace rangefinder
