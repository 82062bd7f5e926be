// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/counter_holder.h"

#include <dirent.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "profiler/guest/control_socket.h"

namespace rangefinder {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPatience{100};
constexpr std::size_t kMaxAnswer = 64 * 1024;

/// One line, or what came of it until then.
std::string ask(const std::string& path, Clock::time_point until) {
  constexpr std::string_view kRequest = "{\"v\":1,\"id\":1,\"command\":\"status\"}\n";
  std::string answer;
  const int file = connect_control_socket(path);
  if (file < 0) return answer;
  if (send(file, kRequest.data(), kRequest.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(kRequest.size())) {
    while (answer.find('\n') == std::string::npos && answer.size() < kMaxAnswer) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
      pollfd waited{file, POLLIN, 0};
      if (left <= 0 || poll(&waited, 1, static_cast<int>(left)) <= 0) break;
      char text[4096];
      const ssize_t bytes = recv(file, text, sizeof(text), 0);
      if (bytes <= 0) break;
      answer.append(text, static_cast<std::size_t>(bytes));
    }
  }
  close(file);
  return answer.substr(0, answer.find('\n'));
}

}  // namespace

std::string counter_holder_text(std::string_view status) try {
  const auto json = nlohmann::json::parse(status, nullptr, false);
  if (!json.is_object() || json.value("state", "") != "recording") return {};
  const std::string counters = json.value("counters", "off");
  if (counters == "off") return {};
  const std::string pid = std::to_string(json.value("pid", 0));
  const std::string executable = std::filesystem::path(json.value("executable", "")).filename();
  return "process " + pid + " (" + (executable.empty() ? "" : executable + ", ") +
         "Rangefinder) reads GPU counters, --counters " + counters + ": `rangefinder attach " + pid +
         " --stop` ends its window";
} catch (const nlohmann::json::exception&) {
  return {};  // a value of another type: no answer of ours
}

std::string counter_holder(const std::vector<std::string>& folders, pid_t self) {
  const auto until = Clock::now() + kPatience;
  for (const std::string& folder : folders) {
    DIR* const dir = opendir(folder.c_str());
    if (dir == nullptr) continue;
    std::string found;
    while (const dirent* const entry = readdir(dir)) {
      const std::string name = entry->d_name;
      if (!name.ends_with(".sock") || name == std::to_string(self) + ".sock") continue;
      found = counter_holder_text(ask(folder + "/" + name, until));
      if (!found.empty() || Clock::now() >= until) break;
    }
    closedir(dir);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace rangefinder
