// SPDX-License-Identifier: Apache-2.0
#include "profiler/base/number_text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace rangefinder {
namespace {

constexpr std::string_view kEllipsis = "…";

template <std::size_t N>
std::string scaled(std::uint64_t amount, const std::array<std::string_view, N>& units) {
  if (amount < 1000) return std::to_string(amount) + " " + std::string(units[0]);
  double value = static_cast<double>(amount);
  std::size_t unit = 0;
  // 999.5 would be rounded to 1,000 of this unit.
  while (value >= 999.5 && unit + 1 < N) {
    value /= 1000;
    ++unit;
  }
  return three_digits(value) + " " + std::string(units[unit]);
}

/// Like printf's %.*f in the C locale, whatever the application's locale is: our comma separates thousands.
std::string fixed_text(double value, int decimals) {
  std::array<char, 336> text{};  // the largest number has 309 digits
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, decimals);
  return {text.data(), end.ptr};
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

}  // namespace

std::string three_digits(double value) {
  if (value >= 999.5) return count_text(static_cast<std::uint64_t>(std::llround(value)));
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fixed_text(value, decimals);
}

std::string error_text(double percent) {
  if (percent > 999) return ">999 %";
  return fixed_text(percent, percent < 0.995 ? 2 : percent < 9.95 ? 1 : 0) + " %";
}

std::string count_text(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

std::string duration_text(std::uint64_t ns) {
  static constexpr std::array<std::string_view, 4> kUnits{"ns", "us", "ms", "s"};
  return scaled(ns, kUnits);
}

std::string bytes_text(std::uint64_t bytes) {
  static constexpr std::array<std::string_view, 6> kUnits{"B", "kB", "MB", "GB", "TB", "PB"};
  return scaled(bytes, kUnits);
}

std::string rate_text(double bytes_per_s) {
  return three_digits(bytes_per_s / 1e9) + " GB/s";
}

std::string percent_text(double part) {
  return fixed_text(part * 100, 1) + " %";
}

std::string factor_text(double factor) {
  return three_digits(factor) + "x";
}

std::string cuda_version_text(std::int32_t version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string counted_text(std::uint64_t n, std::string_view singular, std::string_view plural) {
  return count_text(n) + " " + std::string(n == 1 ? singular : plural);
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // C1 controls are two bytes in UTF-8: C2 80 to C2 9F.
    const bool c1 = byte == 0xC2U && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0U;
    if (c1) ++i;
    out += (c1 || byte < 0x20U || byte == 0x7FU) ? '?' : text[i];
  }
  return out;
}

std::size_t text_width(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text) width += is_continuation(c) ? 0 : 1;
  return width;
}

std::string wrapped_text(std::string_view text, std::size_t width, const std::string& indent) {
  std::string out, line;
  const auto close = [&] {
    if (!line.empty()) out += indent + line + "\n";
    line.clear();
  };
  const auto next_word = [&text] {
    const std::size_t space = text.find_first_of(" \n");
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    return word;
  };
  while (!text.empty()) {
    std::string words(next_word());
    // A number stays with its unit.
    while (!text.empty() && !words.empty() && words.back() >= '0' && words.back() <= '9')
      words += " " + std::string(next_word());
    if (words.empty()) continue;
    if (width != 0 && indent.size() + text_width(line) + 1 + text_width(words) > width) close();
    if (!line.empty()) line += ' ';
    line += words;
  }
  close();
  return out;
}

std::string wrapped_lines(std::string_view text, std::size_t width) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end + 1);
    text.remove_prefix(end + 1);
    if (width == 0 || text_width(line) <= width + 1) {
      out += line;
    } else {
      out += wrapped_text(line, width, std::string(std::min(line.find_first_not_of(' '), line.size()), ' '));
    }
  }
  return out;
}

std::string cut_front(std::string_view text, std::size_t width) {
  std::size_t columns = text_width(text);
  if (columns <= width) return std::string(text);
  if (width == 0) return {};
  std::size_t begin = 0;
  while (begin < text.size() && (columns > width - 1 || is_continuation(text[begin]))) {
    if (!is_continuation(text[begin])) --columns;
    ++begin;
  }
  while (begin < text.size() && is_continuation(text[begin])) ++begin;
  return std::string(kEllipsis) + std::string(text.substr(begin));
}

std::string cut_back(std::string_view text, std::size_t width) {
  if (text_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::size_t end = 0;
  for (std::size_t columns = 0; end < text.size(); ++end) {
    if (is_continuation(text[end])) continue;
    if (columns == width - 1) break;
    ++columns;
  }
  return std::string(text.substr(0, end)) + std::string(kEllipsis);
}

std::string quoted_for_shell(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:@%+,";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace rangefinder
