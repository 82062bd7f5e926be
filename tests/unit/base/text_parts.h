// SPDX-License-Identifier: Apache-2.0
//
// Checks which parts a text has. A failure shows the part and the text.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "tests/catch.h"

namespace rangefinder::test {

inline void check_has(const std::string& text, std::initializer_list<std::string_view> parts) {
  INFO(text);
  for (const std::string_view part : parts) {
    INFO("part: " << std::string(part));
    CHECK(text.find(part) != std::string::npos);
  }
}

inline void check_lacks(const std::string& text, std::initializer_list<std::string_view> parts) {
  INFO(text);
  for (const std::string_view part : parts) {
    INFO("part: " << std::string(part));
    CHECK(text.find(part) == std::string::npos);
  }
}

}  // namespace rangefinder::test
