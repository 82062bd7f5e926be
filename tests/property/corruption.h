// SPDX-License-Identifier: Apache-2.0
//
// How bytes and texts are damaged, for all subcommands: bits, cuts, copies, and what breaks parsers and
// arithmetic in the place of a number or of a value.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include "tests/property/fuzz.h"

namespace rangefinder::fuzz {

// clang-format off
inline constexpr std::array<std::string_view, 18> kNumbers{
    "0", "1", "-1", "7", "65536", "2147483648", "4294967295", "4294967296", "4611686018427387903",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615",
    "999999999999999999999999", "1e308", "-0", "00", "0.5"};
// clang-format on
inline constexpr std::array<std::string_view, 14> kTexts{"null",     "true",     "\"\"",    "[]", "{}",
                                                         "\"0x1\"",  "\\u0000",  "\"\"\"",  "%",  "\x01",
                                                         "\xff\xfe", "\"text\"", "[1,2,3]", "1.5"};

/// The number at or behind a random place: another one, or one of its digits.
inline void replace_number(std::string& text, Random& random) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::size_t begin = random.below(text.size() + 1);
  while (begin < text.size() && !is_digit(text[begin])) ++begin;
  if (begin == text.size()) return;
  while (begin > 0 && is_digit(text[begin - 1])) --begin;
  std::size_t end = begin;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (random.one_in(2)) {
    text.replace(begin, end - begin, random.element(kNumbers));
  } else {
    text[begin + random.below(end - begin)] = static_cast<char>('0' + random.below(10));
  }
}

/// Of JSON: the value at or behind `at` becomes another one, or goes away with its key.
inline void replace_value(std::string& text, std::size_t at, Random& random) {
  const bool remove = random.one_in(2);
  const std::size_t begin = text.find(remove ? ',' : ':', at);
  if (begin == std::string::npos) return;
  const std::size_t end = text.find_first_of(",}", begin + 1);
  if (end == std::string::npos) return;
  if (remove) {
    text.erase(begin, end - begin);
  } else {
    text.replace(begin + 1, end - begin - 1,
                 random.one_in(2) ? random.element(kTexts) : random.element(kNumbers));
  }
}

/// One change.
inline void corrupt_once(std::string& text, Random& random) {
  const std::size_t at = random.below(text.size() + 1);
  const std::size_t length = random.below(std::min<std::size_t>(text.size() - at, 64) + 1);
  const std::size_t kind = random.below(12);
  const bool inside = at < text.size();
  if (kind == 0 && inside) text[at] = static_cast<char>(random.any());
  if (kind == 1 && inside) text[at] = static_cast<char>(text[at] ^ (1 << random.below(8)));
  if (kind == 2) text.erase(at, length);
  if (kind == 3) text.insert(at, text.substr(random.below(text.size() + 1), length));
  if (kind == 4) text.resize(at);
  if (kind == 5 && inside) std::swap(text[at], text[random.below(text.size())]);
  if (kind == 6) text.insert(at, random.element(kTexts));
  if (kind == 7) {
    const char character = random.one_in(2) ? '[' : static_cast<char>(random.any());
    text.insert(at, random.below(3'000), character);
  }
  if (kind == 8 || kind == 9) replace_value(text, at, random);
  if (kind > 9) replace_number(text, random);
}

/// One to eight changes.
inline void corrupt(std::string& text, Random& random) {
  for (std::size_t times = 1 + random.below(8); times > 0; --times) corrupt_once(text, random);
}

}  // namespace rangefinder::fuzz
