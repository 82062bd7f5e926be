// SPDX-License-Identifier: Apache-2.0
//
// The other end of a process's control socket: finds processes, asks, waits for answers
// (docs/control.md).
//
//   folders of sockets ─▶ find_processes() ─▶ ControlClient, one each ─▶ send() … receive()
//
// Reads nothing of the processes but what they answer; starts and loads nothing.
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
  /// Connects. Throws Missing where nobody listens.
  explicit ControlClient(const std::string& path);
  ~ControlClient();
  ControlClient(const ControlClient&) = delete;
  ControlClient& operator=(const ControlClient&) = delete;

  /// Sends a request, an object with "command"; its id is made here and returned.
  int send(nlohmann::json request);
  /// The next line; empty: none came within `patience_ms` (negative: for ever). Throws Missing when the
  /// process has hung up.
  [[nodiscard]] std::optional<nlohmann::json> receive(int patience_ms);
  /// The answer to what send() gave `id`; other lines before it are dropped. Throws Missing when it does not
  /// come.
  [[nodiscard]] nlohmann::json answer(int id, int patience_ms);
  /// send(), and the answer to it. Throws Missing when it does not come.
  [[nodiscard]] nlohmann::json ask(nlohmann::json request, int patience_ms);

  [[nodiscard]] int file() const noexcept { return file_; }

 private:
  [[nodiscard]] std::optional<nlohmann::json> take_line();

  int file_ = -1;
  int next_id_ = 1;
  std::string buffer_;
};

/// A process that listens, and what it says of itself.
struct TracedProcess {
  pid_t pid = 0;
  std::string path;       ///< of its socket
  nlohmann::json status;  ///< answer to `status`
};

/// All processes of this user that listen and answer, by process id.
[[nodiscard]] std::vector<TracedProcess> find_processes();

/// Those that `which` names: a process id, or the name of an executable; all where it is empty. Throws
/// Missing, with what to do, where there are none.
[[nodiscard]] std::vector<TracedProcess> select_processes(const std::string& which);

/// Name of the executable, without its folder; of an interpreter with its script: "python3 train.py".
[[nodiscard]] std::string process_name(const TracedProcess& process);

}  // namespace rangefinder
