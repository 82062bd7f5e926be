// SPDX-License-Identifier: Apache-2.0
//
// Runs a function in a child process and returns its answer as text. Code that loads drivers or foreign
// libraries may crash or hang, and must leave no state in this process.
#pragma once

#include <functional>
#include <string>

namespace rangefinder {

struct Answer {
  bool arrived = false;  ///< the function returned
  std::string text;      ///< the answer, or how the child failed
};

/// Waits at most `seconds`, then kills the child.
[[nodiscard]] Answer ask_in_child(const std::function<std::string()>& question, unsigned seconds = 30);

}  // namespace rangefinder
