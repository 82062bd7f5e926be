// SPDX-License-Identifier: Apache-2.0
//
// Numbers in the text of /proc and of cgroups. No allocation.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace rangefinder {

/// Removes and returns the first line of `text`, without its end.
[[nodiscard]] inline std::string_view next_line(std::string_view& text) noexcept {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// Removes and returns the first word of `text`; empty: there is none. Words are separated by spaces and
/// tabs.
[[nodiscard]] inline std::string_view next_word(std::string_view& text) noexcept {
  constexpr std::string_view kSpace = " \t\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  text.remove_prefix(begin == std::string_view::npos ? text.size() : begin);
  const std::size_t end = text.find_first_of(kSpace);
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(word.size());
  return word;
}

/// The same for an unsigned decimal number. Nothing: the word is no such number, or too large.
[[nodiscard]] inline std::optional<std::uint64_t> next_number(std::string_view& text) noexcept {
  const std::string_view word = next_word(text);
  std::uint64_t number = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  if (word.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

/// The number in the first line that begins with the word `key`, for example "VmSwap:".
[[nodiscard]] inline std::optional<std::uint64_t> number_of_line(std::string_view text,
                                                                 std::string_view key) noexcept {
  while (!text.empty()) {
    std::string_view line = next_line(text);
    if (line.starts_with(key) && next_word(line) == key) return next_number(line);
  }
  return std::nullopt;
}

}  // namespace rangefinder
