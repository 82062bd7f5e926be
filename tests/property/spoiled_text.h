// SPDX-License-Identifier: Apache-2.0
//
// Ways in which bytes go wrong, for files and requests that have no structure to go by: changed, cut,
// doubled, swapped, and numbers replaced by those that break arithmetic.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include "tests/property/cases.h"

namespace rangefinder::property {

inline constexpr std::array<std::string_view, 16> kExtremes{"0",
                                                            "-1",
                                                            "18446744073709551615",
                                                            "9223372036854775807",
                                                            "-9223372036854775808",
                                                            "1e308",
                                                            "4294967296",
                                                            "null",
                                                            "[]",
                                                            "{}",
                                                            "\"\"",
                                                            "true",
                                                            "1.5",
                                                            "\xff\xfe",
                                                            "%",
                                                            "\x01"};

/// The number that stands at or behind a random place becomes an extreme one.
inline void replace_number(std::string& text, Random& random) {
  std::size_t begin = random.below(text.size() + 1);
  while (begin < text.size() && std::isdigit(static_cast<unsigned char>(text[begin])) == 0) ++begin;
  std::size_t end = begin;
  while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
  text.replace(begin, end - begin, kExtremes[random.below(kExtremes.size())]);
}

/// One to eight of these, in place.
inline void corrupt(std::string& text, Random& random) {
  for (std::size_t times = 1 + random.below(8); times > 0; --times) {
    const std::size_t at = random.below(text.size() + 1);
    const std::size_t length = random.below(std::min<std::size_t>(text.size() - at, 64) + 1);
    switch (random.below(6)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(random.any());
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(random.below(text.size() + 1), length));
        break;
      case 3:
        text.resize(at);
        break;
      case 4:
        if (at < text.size()) std::swap(text[at], text[random.below(text.size())]);
        break;
      default:
        replace_number(text, random);
    }
  }
}

}  // namespace rangefinder::property
