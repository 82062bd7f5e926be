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

#include "profiler/guest/control_socket.h"
#include "tools/analysis/model/missing.h"

namespace rangefinder {
namespace {

using Json = nlohmann::json;

/// A process that runs answers `status` at once.
constexpr int kStatusTimeoutMs = 2000;
/// A process that does not read a request.
constexpr int kSendTimeoutMs = 2000;
/// Interval of connecting again to a process whose queue of connections is full. poll() cannot wait for it.
constexpr int kConnectIntervalMs = 20;
constexpr std::string_view kSuffix = ".sock";
constexpr const char* kUnresponsive = "unresponsive";

using Clock = std::chrono::steady_clock;

/// A limit of time for several waits; without one if `timeout_ms` is negative.
class Deadline {
 public:
  explicit Deadline(int timeout_ms)
      : end_(Clock::now() + std::chrono::milliseconds(timeout_ms)), is_limit_(timeout_ms >= 0) {}
  /// For poll(), `longest_ms` (negative: no limit) at most.
  [[nodiscard]] int left_ms(int longest_ms = -1) const {
    if (!is_limit_) return longest_ms;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now()).count();
    const int ms = static_cast<int>(std::max<long>(left, 0));
    return longest_ms < 0 ? ms : std::min(ms, longest_ms);
  }
  [[nodiscard]] bool passed() const { return is_limit_ && Clock::now() >= end_; }

 private:
  Clock::time_point end_;
  bool is_limit_;
};

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

std::string how_to_wake(const std::string& pids) {
  return "\n  It is stopped, or too busy to answer. `ps -o pid,stat -p " + pids +
         "` shows T for a stopped process; SIGCONT continues it.";
}

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

bool is_queue_full(int error) {
  return error == EAGAIN || error == EINTR;
}

/// Connects and sends the request, unless the process's queue of connections is full.
void try_to_send(ControlQuestion& question) {
  const int file = connect_control_socket(question.path);
  if (file < 0 && is_queue_full(errno)) return;
  if (file < 0) throw Missing("no process answers at " + question.path + ": " + std::strerror(errno));
  question.client = std::make_unique<ControlClient>(file);
  question.id = question.client->send(question.request);
}

void take_answer(ControlQuestion& question) {
  while (auto line = question.client->receive(0)) {
    if (line->value("id", 0) != question.id) continue;
    question.answer = *std::move(line);
    question.outcome = ControlQuestion::Outcome::answered;
    return;
  }
}

/// Sends what is not sent yet, and takes the answers that are there.
void advance(ControlQuestion& question) {
  try {
    if (!question.client) try_to_send(question);
    if (question.client) take_answer(question);
  } catch (const Missing&) {
    question.outcome = ControlQuestion::Outcome::gone;
  }
}

}  // namespace

ControlClient::ControlClient(const std::string& path) : file_(connect_control_socket(path)) {
  for (const Deadline deadline(kConnectTimeoutMs); file_ < 0 && is_queue_full(errno);) {
    if (deadline.passed()) throw Missing("the process at " + path + " is " + kUnresponsive);
    (void)poll(nullptr, 0, kConnectIntervalMs);
    file_ = connect_control_socket(path);
  }
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
    if (pollfd waited{file_, POLLOUT, 0}; n < 0 && errno == EAGAIN) {
      if (poll(&waited, 1, kSendTimeoutMs) == 0) throw Missing("the process does not read its requests");
      continue;
    }
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
  const Deadline deadline(timeout_ms);
  for (;;) {
    if (auto line = take_line()) return line;
    pollfd waited{file_, POLLIN, 0};
    if (poll(&waited, 1, deadline.left_ms()) <= 0) return std::nullopt;  // none in time; or a signal
    std::array<char, 65'536> part;
    const ssize_t n = recv(file_, part.data(), part.size(), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
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

void ask_all(std::vector<ControlQuestion>& questions, int timeout_ms) {
  const Deadline deadline(timeout_ms);
  for (;;) {
    std::vector<pollfd> files;
    bool connecting = false;
    for (ControlQuestion& question : questions) {
      if (question.outcome != ControlQuestion::Outcome::waiting) continue;
      advance(question);
      if (question.outcome != ControlQuestion::Outcome::waiting) continue;
      if (question.client) files.push_back({question.client->file(), POLLIN, 0});
      connecting |= !question.client;
    }
    if ((files.empty() && !connecting) || deadline.passed()) return;
    (void)poll(files.data(), files.size(), deadline.left_ms(connecting ? kConnectIntervalMs : -1));
  }
}

bool TracedProcess::unresponsive() const {
  return status.value("state", "") == kUnresponsive;
}

std::vector<TracedProcess> find_processes(std::optional<pid_t> only) {
  std::vector<TracedProcess> all;
  std::vector<ControlQuestion> questions;
  for (const std::string& folder : control_folders(std::getenv("XDG_RUNTIME_DIR"), geteuid())) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      const std::string name = entry.path().filename().string();
      const auto pid = name.ends_with(kSuffix) ? number_in(name.substr(0, name.size() - kSuffix.size()))
                                               : std::optional<pid_t>();
      if (!pid || (only && *only != *pid)) continue;
      all.push_back({*pid, entry.path().string(), {{"pid", *pid}, {"state", kUnresponsive}}});
      questions.push_back({all.back().path, {{"command", "status"}}});
    }
  }
  ask_all(questions, kStatusTimeoutMs);
  std::vector<TracedProcess> found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (questions[i].outcome == ControlQuestion::Outcome::gone) continue;  // it has ended or is ending
    if (questions[i].outcome == ControlQuestion::Outcome::answered)
      all[i].status = std::move(questions[i].answer);
    found.push_back(std::move(all[i]));
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
  const auto pid = number_in(which);
  std::vector<TracedProcess> all = find_processes(pid);
  if (all.empty() && which.empty()) throw Missing("no process runs with Rangefinder" + how_to_start());
  if (which.empty()) return all;
  std::string silent;  // unresponsive processes have no name
  for (const TracedProcess& process : all) {
    if (process.unresponsive()) silent += (silent.empty() ? "" : ", ") + std::to_string(process.pid);
  }
  std::erase_if(all, [&](const TracedProcess& process) {
    const std::string name = process_name(process);
    return process.unresponsive() ||
           (!pid && name != which && name.substr(0, name.find(' ')) != which && !name.ends_with(" " + which));
  });
  if (!all.empty()) return all;
  if (pid && !silent.empty()) throw Missing("process " + which + " is " + kUnresponsive + how_to_wake(which));
  if (!pid && !silent.empty())
    throw Missing("no process that answers is called " + which + "; unresponsive: " + silent +
                  how_to_wake(silent));
  if (!pid) throw Missing("no process called " + which + " runs with Rangefinder" + how_to_start());
  if (kill(*pid, 0) != 0 && errno == ESRCH) throw Missing("there is no process " + which);
  throw Missing("process " + which + " was started without Rangefinder, or with --no-control" +
                how_to_start());
}

}  // namespace rangefinder
