// SPDX-License-Identifier: Apache-2.0
#include "schema/json_number.h"

#include <charconv>
#include <system_error>

namespace rangefinder {
namespace {

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

const char* skip_digits(const char* at) noexcept {
  while (is_digit(*at)) ++at;
  return at;
}

/// Behind '.' and digits, and behind an exponent, if they are there. nullptr: one has no digits.
const char* skip_fraction_and_exponent(const char* at) noexcept {
  if (*at == '.') {
    if (!is_digit(*++at)) return nullptr;
    at = skip_digits(at);
  }
  if (*at == 'e' || *at == 'E') {
    ++at;
    if (*at == '+' || *at == '-') ++at;
    if (!is_digit(*at)) return nullptr;
    at = skip_digits(at);
  }
  return at;
}

}  // namespace

TakenNumber<std::uint64_t> take_long_natural(const char* at) noexcept {
  const char* const first = at;
  std::uint64_t value = 0;
  for (; is_digit(*at); ++at) {
    if (at - first == kMaxDigits) return {nullptr, 0};
    value = value * 10 + static_cast<unsigned char>(*at - '0');
  }
  if (at == first || (*first == '0' && at - first > 1)) return {nullptr, 0};
  return {at, value};
}

TakenNumber<std::int64_t> take_long_integer(const char* at) noexcept {
  const bool negative = *at == '-';
  const auto [end, magnitude] = take_long_natural(at + (negative ? 1 : 0));
  // The parser reads -0 as 0: left to it.
  if (negative && magnitude == 0) return {nullptr, 0};
  const auto value = static_cast<std::int64_t>(magnitude);
  return {end, negative ? -value : value};
}

TakenNumber<double> take_real(const char* at) noexcept {
  const char* const whole = *at == '-' ? at + 1 : at;
  const char* const point = skip_digits(whole);
  if (point == whole || (*whole == '0' && point - whole > 1)) return {nullptr, 0};
  const char* const end = skip_fraction_and_exponent(point);
  if (end == nullptr) return {nullptr, 0};
  if (end == point) {
    // JSON parsers read it as an integer first, for which -0 is 0.
    const auto [behind, integer] = take_long_integer(at);
    return {behind, static_cast<double>(integer)};
  }
  double value = 0;
  const auto result = std::from_chars(at, end, value);
  const bool read = result.ec == std::errc{} && result.ptr == end;
  return {read ? end : nullptr, value};
}

}  // namespace rangefinder
