// SPDX-License-Identifier: Apache-2.0
//
// Traces as no program writes them: lines of real ones, spoiled.
//
//   recording ─▶ trace ─▶ lines ─▶ a part of them ─▶ bits, numbers, order, length, nesting ─▶ text of a
//   segment
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/property/cases.h"

namespace rangefinder::property {

using Lines = std::vector<std::string>;

/// Lines to begin with: up to `most` of a real trace, with the lines that name things before them.
inline Lines part_of(const Lines& trace, std::size_t most, Random& random) {
  if (trace.size() <= most) return trace;
  const std::size_t first = random.below(trace.size() - most);
  Lines out(trace.begin(), trace.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(first, 30)));
  out.insert(out.end(), trace.begin() + static_cast<std::ptrdiff_t>(first),
             trace.begin() + static_cast<std::ptrdiff_t>(first + most));
  if (!random.one_in(3)) out.push_back(trace.back());  // the end line, whose counts are then wrong
  return out;
}

/// Where a number stands in `line`: [begin, end); both 0 if there is none.
inline std::pair<std::size_t, std::size_t> any_number(const std::string& line, Random& random) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::size_t begin = line.empty() ? 0 : random.below(line.size());
  while (begin < line.size() && !is_digit(line[begin])) ++begin;
  if (begin == line.size()) return {0, 0};
  while (begin > 0 && is_digit(line[begin - 1])) --begin;
  std::size_t end = begin;
  while (end < line.size() && is_digit(line[end])) ++end;
  return {begin, end};
}

inline void change_number(std::string& line, Random& random) {
  static constexpr std::array<std::string_view, 18> kNumbers{"0",
                                                             "1",
                                                             "-1",
                                                             "4294967295",
                                                             "4294967296",
                                                             "9223372036854775807",
                                                             "7",
                                                             "65536",
                                                             "2147483648",
                                                             "9223372036854775808",
                                                             "-9223372036854775808",
                                                             "18446744073709551615",
                                                             "1e308",
                                                             "-0",
                                                             "00",
                                                             "0.5",
                                                             "4611686018427387903",
                                                             "999999999999999999999999"};
  const auto [begin, end] = any_number(line, random);
  if (end == 0) return;
  if (random.one_in(2)) {
    line.replace(begin, end - begin, std::string(kNumbers[random.below(kNumbers.size())]));
  } else {
    line[begin + random.below(end - begin)] = static_cast<char>('0' + random.below(10));
  }
}

inline void change_text(std::string& line, Random& random) {
  static const std::array<std::string, 10> kTexts{
      "null", "true", "\"\"", "[]", "{}", "\"0x1\"", "\\u0000", "\xff", "\"\"\"", "\"values\":[1,2,3]"};
  const std::size_t at = line.empty() ? 0 : random.below(line.size());
  switch (random.below(5)) {
    case 0:
      line.insert(at, kTexts[random.below(kTexts.size())]);
      break;
    case 1:
      line.insert(at, std::string(random.below(2'000), static_cast<char>('a' + random.below(26))));
      break;
    case 2: {  // a value, whatever stands there
      const std::size_t colon = line.find(':', at);
      const std::size_t comma = line.find_first_of(",}", colon);
      if (comma == std::string::npos) return;
      line.replace(colon + 1, comma - colon - 1, kTexts[random.below(kTexts.size())]);
      break;
    }
    case 3:
      line.insert(at, std::string(random.below(3'000), random.one_in(2) ? '[' : '{'));
      break;
    default: {  // a key and its value away
      const std::size_t comma = line.find(',', at);
      const std::size_t next = comma == std::string::npos ? comma : line.find_first_of(",}", comma + 1);
      if (next != std::string::npos) line.erase(comma, next - comma);
    }
  }
}

inline void corrupt_line(std::string& line, Random& random) {
  if (line.empty()) return;
  switch (random.below(5)) {
    case 0:
      line[random.below(line.size())] ^= static_cast<char>(1 << random.below(8));
      break;
    case 1:
    case 2:
      change_number(line, random);
      break;
    case 3:
      change_text(line, random);
      break;
    default:
      line.resize(random.below(line.size()));
  }
}

inline void corrupt(Lines& lines, Random& random) {
  if (lines.empty()) return;
  const std::size_t at = random.below(lines.size()), other = random.below(lines.size());
  switch (random.below(8)) {
    case 0:
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), lines[other]);
      break;
    case 1:
      std::swap(lines[at], lines[other]);
      break;
    case 2:
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 3:  // many of one
      for (std::size_t n = random.below(64); n > 0; --n) lines.push_back(lines[at]);
      break;
    default:
      corrupt_line(lines[at], random);
  }
}

/// Now and then cut anywhere.
inline std::string text_of(const Lines& lines, Random& random) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  if (!out.empty() && random.one_in(5)) out.resize(random.below(out.size()));
  return out;
}

}  // namespace rangefinder::property
