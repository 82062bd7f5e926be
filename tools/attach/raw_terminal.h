// SPDX-License-Identifier: Apache-2.0
//
// A terminal in raw mode: single keys and a screen to draw on. The destructor restores the terminal.
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
  /// Switches standard input and output to raw mode. Both must be terminals.
  RawTerminal();
  ~RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

  /// The next key. Does not wait.
  [[nodiscard]] KeyPress read_key() const;
  /// Replaces the screen's content. `text`: lines.
  void draw(const std::string& text) const;
  /// Number of lines that fit.
  [[nodiscard]] static std::size_t height();

 private:
  termios before_{};
};

/// True if standard input and output are terminals, and the output understands control sequences.
[[nodiscard]] bool has_screen();

}  // namespace rangefinder
