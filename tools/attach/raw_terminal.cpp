// SPDX-License-Identifier: Apache-2.0
#include "tools/attach/raw_terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>

namespace rangefinder {
namespace {

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(STDOUT_FILENO, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

bool has_screen() {
  const char* const kind = std::getenv("TERM");
  return isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0 && kind != nullptr &&
         std::string_view(kind) != "dumb";
}

RawTerminal::RawTerminal() {
  tcgetattr(STDIN_FILENO, &before_);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // Ctrl-C still ends the program
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  write_all("\033[?1049h\033[?25l");  // alternate screen, no cursor
}

RawTerminal::~RawTerminal() {
  write_all("\033[?25h\033[?1049l");
  tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

KeyPress RawTerminal::read_key() const {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  std::array<char, 8> typed;
  if (poll(&input, 1, 0) != 1) return {};
  const ssize_t n = read(STDIN_FILENO, typed.data(), typed.size());
  const std::string_view text(typed.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  if (text.empty()) return {Key::other, 'q'};  // end of input
  if (text == "\033[A") return {Key::up, 0};
  if (text == "\033[B") return {Key::down, 0};
  if (text == "\033[C" || text == "\n" || text == "\r") return {Key::enter, 0};
  if (text == "\033[D" || text == "\x7f" || text == "\b") return {Key::back, 0};
  return {Key::other, text.front()};
}

void RawTerminal::draw(const std::string& text) const {
  std::string out = "\033[H";
  for (const char character : text) {
    if (character == '\n') out += "\033[K";
    out += character;
  }
  write_all(out + "\033[J");
}

std::size_t RawTerminal::height() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}

}  // namespace rangefinder
