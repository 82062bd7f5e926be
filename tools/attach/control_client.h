// SPDX-License-Identifier: Apache-2.0
//
// Client of the control sockets of traced processes (docs/control.md): finds processes, sends requests,
// waits for answers.
//
//   folders of sockets ─▶ find_processes() ─▶ ControlClient, one each ─▶ send() … receive()
//
// Reads nothing of the processes except their answers. Starts and loads nothing.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace rangefinder {

class ControlClient {
 public:
  /// Connects. Throws Missing if no process listens.
  explicit ControlClient(const std::string& path);
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
  [[nodiscard]] std::optional<nlohmann::json> take_line();

  int file_ = -1;
  int next_id_ = 1;
  std::string buffer_;
};

/// A process with a control socket, and its status.
struct TracedProcess {
  pid_t pid = 0;
  std::string path;       ///< of its socket
  nlohmann::json status;  ///< answer to `status`
};

/// All processes of this user that answer, sorted by process id.
[[nodiscard]] std::vector<TracedProcess> find_processes();

/// The processes that match `which`: a process id or the name of an executable; empty: all. Throws Missing,
/// with what to do, if there are none.
[[nodiscard]] std::vector<TracedProcess> select_processes(const std::string& which);

/// Name of the executable without its folder. Python includes the script: "python3 train.py".
[[nodiscard]] std::string process_name(const TracedProcess& process);

}  // namespace rangefinder
