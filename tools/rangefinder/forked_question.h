// SPDX-License-Identifier: Apache-2.0
//
// Asks something in a child process and gets the answer as text: what loads drivers and
// other people's libraries may crash or never come back, and must leave no state here.
#pragma once

#include <functional>
#include <string>

namespace rangefinder {

struct Answer {
  bool arrived = false;  ///< the child came to its end and said something
  std::string text;      ///< the answer, or how the child ended instead
};

/// Waits at most `seconds`, then kills the child.
[[nodiscard]] Answer ask_in_child(const std::function<std::string()>& question, unsigned seconds = 30);

}  // namespace rangefinder
