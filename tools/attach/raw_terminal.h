// SPDX-License-Identifier: Apache-2.0
//
// A terminal that gives keys as they are typed and a screen to draw on, and is as it was
// before when this object goes.
#pragma once

#include <termios.h>

#include <string>

namespace rangefinder {

enum class Key { none, up, down, enter, back, other };

struct KeyPress {
  Key key = Key::none;
  char character = 0;  ///< of Key::other
};

class RawTerminal {
 public:
  /// Switches standard input and output over. Both must be terminals.
  RawTerminal();
  ~RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

  /// What was typed; does not wait.
  [[nodiscard]] KeyPress read_key() const;
  /// Replaces what is shown. `text`: lines.
  void draw(const std::string& text) const;
  /// Lines that fit.
  [[nodiscard]] static std::size_t height();

 private:
  termios before_{};
};

/// Standard input and output are both terminals, and the output's is able to clear itself.
[[nodiscard]] bool has_screen();

}  // namespace rangefinder
