// SPDX-License-Identifier: Apache-2.0
//
// Client of the control sockets of traced processes (docs/internals/control.md): finds processes, sends
// requests, waits for answers.
//
//   folders of sockets ─▶ find_processes() ─▶ ControlClient, one each ─▶ send() … receive()
//                              └─ ask_all(): one deadline for all processes
//
// Reads nothing of the processes except their answers. Starts and loads nothing. A process that is stopped,
// or too busy to answer in time, is *unresponsive*: it delays the others by one deadline at most.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace rangefinder {

class ControlClient {
 public:
  /// Connects. Throws Missing if no process listens, or if none accepts within kConnectTimeoutMs.
  explicit ControlClient(const std::string& path);
  /// Takes a connection.
  explicit ControlClient(int file) noexcept : file_(file) {}
  ~ControlClient();
  ControlClient(const ControlClient&) = delete;
  ControlClient& operator=(const ControlClient&) = delete;

  /// Sends a request, an object with "command". Returns the new id of the request.
  int send(nlohmann::json request);
  /// The next line; empty: none within `timeout_ms` (negative: no limit). Throws Missing if the process
  /// closed the connection.
  [[nodiscard]] std::optional<nlohmann::json> receive(int timeout_ms);
  /// The answer to request `id`. Drops other lines before it. Throws Missing if there is none in time.
  [[nodiscard]] nlohmann::json answer(int id, int timeout_ms);
  /// send(), then answer(). Throws Missing.
  [[nodiscard]] nlohmann::json ask(nlohmann::json request, int timeout_ms);

  [[nodiscard]] int file() const noexcept { return file_; }

 private:
  static constexpr int kConnectTimeoutMs = 2000;

  [[nodiscard]] std::optional<nlohmann::json> take_line();

  int file_ = -1;
  int next_id_ = 1;
  std::string buffer_;
};

/// A request to one of several processes.
struct ControlQuestion {
  enum class Outcome { waiting, answered, gone };

  std::string path;  ///< of the socket
  nlohmann::json request;
  Outcome outcome = Outcome::waiting;
  nlohmann::json answer{};  ///< if answered
  std::unique_ptr<ControlClient> client{};
  int id = 0;
};

/// Sends all requests, and waits for all answers together, `timeout_ms` in all (negative: no limit). A
/// process whose question is still `waiting` afterwards is unresponsive; one that is `gone` does not listen
/// any more.
void ask_all(std::vector<ControlQuestion>& questions, int timeout_ms);

/// A process with a control socket, and its status.
struct TracedProcess {
  pid_t pid = 0;
  std::string path;       ///< of its socket
  nlohmann::json status;  ///< answer to `status`; of an unresponsive process only `pid` and `state`

  [[nodiscard]] bool unresponsive() const;
};

/// All processes of this user that listen, sorted by process id. `only`: looks for this process alone.
[[nodiscard]] std::vector<TracedProcess> find_processes(std::optional<pid_t> only = {});

/// The processes that match `which`: a process id or the name of an executable; empty: all, also unresponsive
/// ones, which have no name. Throws Missing, with what to do, if there are none.
[[nodiscard]] std::vector<TracedProcess> select_processes(const std::string& which);

/// Name of the executable without its folder. Python includes the script: "python3 train.py".
[[nodiscard]] std::string process_name(const TracedProcess& process);

}  // namespace rangefinder
