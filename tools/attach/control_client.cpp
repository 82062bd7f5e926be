// SPDX-License-Identifier: Apache-2.0
#include "tools/attach/control_client.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "profiler/control/control_socket.h"
#include "tools/analysis/read/missing.h"

namespace rangefinder {
namespace {

using Json = nlohmann::json;

/// A process that is alive answers `status` at once.
constexpr int kStatusTimeoutMs = 2000;
constexpr std::string_view kSuffix = ".sock";

std::optional<pid_t> number_in(std::string_view text) {
  pid_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string how_to_start() {
  return "\n  Rangefinder is loaded when CUDA starts. It cannot be loaded into a process that already runs."
         "\n  Start the program with:  rangefinder run --start off -- PROGRAM"
         "\n  Then use:  rangefinder attach";
}

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

}  // namespace

ControlClient::ControlClient(const std::string& path) : file_(connect_control_socket(path, false)) {
  if (file_ < 0) throw Missing("no process answers at " + path + ": " + std::strerror(errno));
}

ControlClient::~ControlClient() {
  close(file_);
}

int ControlClient::send(Json request) {
  request["v"] = 1;
  request["id"] = next_id_;
  const std::string line = request.dump() + "\n";
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = ::send(file_, line.data() + done, line.size() - done, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Missing("the process closed the connection");
    done += static_cast<std::size_t>(n);
  }
  return next_id_++;
}

std::optional<Json> ControlClient::take_line() {
  const std::size_t end = buffer_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  Json line = Json::parse(buffer_.substr(0, end), nullptr, false);
  buffer_.erase(0, end + 1);
  if (!line.is_object()) throw Missing("the process does not speak the control protocol");
  return line;
}

std::optional<Json> ControlClient::receive(int timeout_ms) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  for (;;) {
    if (auto line = take_line()) return line;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waited{file_, POLLIN, 0};
    const int ready = poll(&waited, 1, timeout_ms < 0 ? -1 : static_cast<int>(std::max<long>(left, 0)));
    if (ready == 0) return std::nullopt;
    if (ready < 0) return std::nullopt;  // a signal: the caller decides
    std::array<char, 65'536> part;
    const ssize_t n = recv(file_, part.data(), part.size(), 0);
    if (n <= 0) throw Missing("the process closed the connection");
    buffer_.append(part.data(), static_cast<std::size_t>(n));
  }
}

Json ControlClient::ask(Json request, int timeout_ms) {
  return answer(send(std::move(request)), timeout_ms);
}

Json ControlClient::answer(int id, int timeout_ms) {
  while (auto line = receive(timeout_ms)) {
    if (line->value("id", 0) == id) return *line;
  }
  throw Missing("the process does not answer");
}

std::vector<TracedProcess> find_processes() {
  std::vector<TracedProcess> found;
  for (const std::string& folder : control_folders(std::getenv("XDG_RUNTIME_DIR"), geteuid())) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      const std::string name = entry.path().filename().string();
      const auto pid = name.ends_with(kSuffix) ? number_in(name.substr(0, name.size() - kSuffix.size()))
                                               : std::optional<pid_t>();
      if (!pid) continue;
      try {
        ControlClient client(entry.path().string());
        Json status = client.ask({{"command", "status"}}, kStatusTimeoutMs);
        found.push_back({*pid, entry.path().string(), std::move(status)});
      } catch (const Missing&) {
        // The process has ended or is ending.
      }
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.pid < b.pid; });
  return found;
}

std::string process_name(const TracedProcess& process) {
  const std::string executable = file_name(process.status.value("executable", ""));
  const auto command = process.status.value("command", std::vector<std::string>{});
  if (executable.starts_with("python") && command.size() > 1) return executable + " " + file_name(command[1]);
  return executable;
}

std::vector<TracedProcess> select_processes(const std::string& which) {
  std::vector<TracedProcess> all = find_processes();
  if (all.empty() && which.empty()) throw Missing("no process runs with Rangefinder" + how_to_start());
  if (which.empty()) return all;
  const auto pid = number_in(which);
  std::erase_if(all, [&](const TracedProcess& process) {
    if (pid) return process.pid != *pid;
    const std::string name = process_name(process);
    return name != which && name.substr(0, name.find(' ')) != which && !name.ends_with(" " + which);
  });
  if (!all.empty()) return all;
  if (!pid) throw Missing("no process called " + which + " runs with Rangefinder" + how_to_start());
  if (kill(*pid, 0) != 0 && errno == ESRCH) throw Missing("there is no process " + which);
  throw Missing("process " + which + " was started without Rangefinder, or with --no-control" +
                how_to_start());
}

}  // namespace rangefinder
