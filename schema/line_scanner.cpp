// SPDX-License-Identifier: Apache-2.0
#include "schema/line_scanner.h"

#include <charconv>

namespace rangefinder {

std::size_t LineScanner::name(const std::string_view* names, std::size_t count) noexcept {
  const std::string_view text = quoted();
  if (text.empty()) {
    fail();
    return 0;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view name = names[i];
    // Names of one list differ mostly in length, in the first or in the last character.
    if (name.size() == text.size() && name.front() == text.front() && name.back() == text.back() &&
        name == text) {
      return i;
    }
  }
  fail();
  return 0;
}

void LineScanner::quoted_handle(std::uint64_t& value) noexcept {
  const std::string_view text = quoted();
  const char* const end = text.data() + text.size();
  if (!text.starts_with("0x")) return fail();
  const auto result = std::from_chars(text.data() + 2, end, value, 16);
  expect(result.ec == std::errc{} && result.ptr == end);
}

void LineScanner::dimensions(Dim3& value) noexcept {
  expect(take('['));
  number(value.x);
  expect(take(','));
  number(value.y);
  expect(take(','));
  number(value.z);
  expect(take(']'));
}

}  // namespace rangefinder
