// SPDX-License-Identifier: Apache-2.0
//
// Runs a program to its end, as a shell would, and stays out of its way.
//
//   block signals ─▶ fork ─▶ child: signals as they were, exec
//                    └─▶ parent: wait for the child's end or a signal to pass on
//
// INT, TERM, HUP and QUIT that somebody sends to us are passed on; those that the
// terminal sends to the whole group reach the program without us. No handler is
// installed, no thread is started.
#pragma once

#include <string>
#include <vector>

namespace rangefinder {

struct ChildEnd {
  int start_error = 0;  ///< errno of the exec; not 0: the program never ran
  int exit_code = 0;
  int signal = 0;  ///< that killed it; 0: it ended by itself

  /// As a shell says it: 128 + signal, 127 not found, 126 not executable.
  [[nodiscard]] int shell_code() const noexcept;
};

/// `arguments[0]` is looked for in PATH. `environment`: NAME=value, the whole of it.
/// Throws Missing when no process can be made.
[[nodiscard]] ChildEnd run_child(const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& environment);

}  // namespace rangefinder
