// SPDX-License-Identifier: Apache-2.0
//
// Runs a program to its end, as a shell would.
//
//   block signals ─▶ fork ─▶ child: restore signals, exec
//                    └─▶ parent: wait for the child's exit or a signal to forward
//
// Forwards INT, TERM, HUP and QUIT that another process sends to us. Signals from the terminal reach the
// whole process group, so they are not forwarded. Installs no handler and starts no thread.
#pragma once

#include <string>
#include <vector>

namespace rangefinder {

struct ChildEnd {
  int start_error = 0;  ///< errno of exec(); not 0: the program never ran
  int exit_code = 0;
  int signal = 0;  ///< signal that killed it, or 0

  /// Exit code of a shell: 128 + signal, 127 not found, 126 not executable.
  [[nodiscard]] int shell_code() const noexcept;
};

/// Searches `arguments[0]` in PATH. `environment`: the complete NAME=value list.
/// Throws Missing if fork() fails.
[[nodiscard]] ChildEnd run_child(const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& environment);

}  // namespace rangefinder
