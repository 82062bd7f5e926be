// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/tables/kernel_text.h"

#include <array>

namespace rangefinder {
namespace {

/// Position behind the bracket that closes the one at `open`; npos: it is not closed.
std::size_t behind_closing(std::string_view text, std::size_t open) {
  const char opening = text[open];
  const char closing = opening == '(' ? ')' : opening == '<' ? '>' : opening == '[' ? ']' : '}';
  std::size_t depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    const bool arrow = closing == '>' && i > 0 && text[i] == '>' && text[i - 1] == '-';
    if (text[i] == opening) ++depth;
    if (text[i] == closing && !arrow && --depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

/// Length of `operator<`, `operator()`, … at the start of `text`; otherwise 0.
std::size_t operator_length(std::string_view text) {
  static constexpr std::array<std::string_view, 8> kOperators{
      "operator()", "operator<=>", "operator<<", "operator>>",
      "operator<=", "operator>=",  "operator<",  "operator>"};
  for (const std::string_view name : kOperators) {
    if (text.starts_with(name)) return name.size();
  }
  return 0;
}

}  // namespace

std::string short_kernel_name(std::string_view demangled) {
  std::string out;
  for (std::size_t i = 0; i < demangled.size();) {
    const std::string_view rest = demangled.substr(i);
    if (const std::size_t length = operator_length(rest); length != 0) {
      out += rest.substr(0, length);
      i += length;
      continue;
    }
    const char c = demangled[i];
    const std::size_t behind = c == '<' || c == '(' || c == '{' ? behind_closing(demangled, i) : 0;
    if (behind == std::string_view::npos) return std::string(demangled);  // not a C++ name
    if (c == '<') {
      out += "<…>";
      i = behind;
    } else if (c == '{') {
      out += rest.substr(0, behind - i);  // {lambda()#1}
      i = behind;
    } else if (c == '(' && !rest.starts_with("(anonymous namespace)")) {
      // Parameters end the name, unless it continues behind them, as in f(int)::{lambda()#1}.
      if (!demangled.substr(behind).starts_with("::")) break;
      i = behind;
    } else if (c == '(') {
      out += rest.substr(0, behind - i);
      i = behind;
    } else if (c == ' ') {
      out.clear();  // the text so far was the return type
      ++i;
    } else {
      out += c;
      ++i;
    }
  }
  return out.empty() ? std::string(demangled) : out;
}

}  // namespace rangefinder
