// SPDX-License-Identifier: Apache-2.0
#include "schema/json_text.h"

#include <array>
#include <cmath>

namespace rangefinder {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
// Larger integral doubles are written with an exponent: readers parse plain digits as an
// integer, and integers end at 2^64.
constexpr double kLargestPlainIntegral = 9007199254740992.0;  // 2^53

// Bytes that need no escape in a JSON string.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 0x7f; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

constexpr std::uint8_t byte_at(std::string_view text, std::size_t i) {
  return static_cast<std::uint8_t>(text[i]);
}

// Length of the valid multi-byte sequence at text[i]; 0: none. The second byte's limits
// exclude overlong forms, surrogates and code points over U+10FFFF (Unicode, table 3-7).
std::size_t multibyte_length(std::string_view text, std::size_t i) {
  const std::uint8_t first = byte_at(text, i);
  std::size_t length = 0;
  std::uint8_t low = 0x80, high = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  }
  if (length == 0 || text.size() - i < length) return 0;
  if (byte_at(text, i + 1) < low || byte_at(text, i + 1) > high) return 0;
  for (std::size_t k = 2; k < length; ++k) {
    if ((byte_at(text, i + k) & 0xC0) != 0x80) return 0;
  }
  return length;
}

void append_escape(std::string& out, std::uint8_t c) {
  constexpr const char* kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  const char text[] = {'\\', 'u', '0', '0', kHex[c >> 4], kHex[c & 15]};
  out.append(text, sizeof text);
}

// Appends runs of unchanged bytes at once; `ascii(c)` appends a byte that needs an escape.
template <typename Keep, typename Ascii>
void append_runs(std::string& out, std::string_view text, Keep keep, Ascii ascii) {
  std::size_t run = 0, i = 0;
  while (i < text.size()) {
    const std::uint8_t c = byte_at(text, i);
    if (keep(c)) {
      ++i;
      continue;
    }
    if (const std::size_t length = c >= 0x80 ? multibyte_length(text, i) : 0; length != 0) {
      i += length;
      continue;
    }
    out.append(text, run, i - run);
    if (c >= 0x80) {
      out.append(kReplacement);
    } else {
      ascii(c);
    }
    run = ++i;
  }
  out.append(text, run, text.size() - run);
}

template <typename Real>
void append_real(std::string& out, Real value) {
  if (std::isnan(value)) {
    out += "\"nan\"";
    return;
  }
  if (std::isinf(value)) {
    out += value < 0 ? "\"-inf\"" : "\"inf\"";
    return;
  }
  char buffer[48];
  // "-0" would be read as the integer 0.
  const bool plain =
      std::fabs(static_cast<double>(value)) <= kLargestPlainIntegral && !(value == 0 && std::signbit(value));
  const bool integral = std::trunc(value) == value;
  const auto result = plain || !integral ? std::to_chars(buffer, buffer + sizeof buffer, value)
                                         : std::to_chars(buffer, buffer + sizeof buffer, value,
                                                         std::chars_format::scientific);
  out.append(buffer, static_cast<std::size_t>(result.ptr - buffer));
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  append_runs(
      out, text, [](std::uint8_t c) { return kPlain[c]; }, [&](std::uint8_t c) { append_escape(out, c); });
  out += '"';
}

void append_valid_utf8(std::string& out, std::string_view text) {
  append_runs(
      out, text, [](std::uint8_t c) { return c < 0x80; }, [](std::uint8_t) {});
}

void append_json_real(std::string& out, double value) {
  append_real(out, value);
}
void append_json_real(std::string& out, float value) {
  append_real(out, value);
}

void append_json_handle(std::string& out, std::uint64_t value) {
  char buffer[20];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value, 16);
  out += "\"0x";
  out.append(buffer, static_cast<std::size_t>(result.ptr - buffer));
  out += '"';
}

}  // namespace rangefinder
