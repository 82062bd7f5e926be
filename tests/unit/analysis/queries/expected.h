// SPDX-License-Identifier: Apache-2.0
//
// A value that a test expects under a key: a number, an approximate number or a text.
//
//   check_expected({{"count", 57}, {"rate", Approx(4.8e10)}, {"pageable", "no"}}, number, text)
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "tests/catch.h"

namespace rangefinder::test {

struct Expected {
  Expected(std::string_view of, double number) : key(of), value(number) {}
  Expected(std::string_view of, const Approx& number) : key(of), value(number) {}
  Expected(std::string_view of, std::string_view text) : key(of), value(std::string(text)) {}

  std::string key;
  std::variant<double, Approx, std::string> value;
};

/// `number` and `text` return what is there under a key. A failure shows the key.
template <typename Number, typename Text>
void check_expected(std::initializer_list<Expected> values, const Number& number, const Text& text) {
  for (const Expected& one : values) {
    INFO(one.key);
    if (const auto* const exact = std::get_if<double>(&one.value)) {
      CHECK(number(one.key) == *exact);
    } else if (const auto* const near = std::get_if<Approx>(&one.value)) {
      CHECK(number(one.key) == *near);
    } else {
      CHECK(text(one.key) == std::get<std::string>(one.value));
    }
  }
}

}  // namespace rangefinder::test
