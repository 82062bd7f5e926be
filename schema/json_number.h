// SPDX-License-Identifier: Apache-2.0
//
// Numbers in JSON text, in the form in which our writer writes them, and nothing else.
//
//   1193046,…  ─▶ digit by digit ─▶ {place of the ',', 1193046}
//
// What these functions take is valid JSON, and a JSON parser reads the same value. Other valid numbers (an
// integer of more than 18 digits, -0, 1.0 for an integer) are left to the parser. They look only at the
// number and the byte behind it, but load eight bytes at a time: kNumberPadding bytes must be readable there.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace rangefinder {

static_assert(std::endian::native == std::endian::little, "the first byte of a word is its lowest");

/// Readable bytes from the first behind a number.
inline constexpr std::size_t kNumberPadding = 8;
/// So that nothing overflows.
inline constexpr std::ptrdiff_t kMaxDigits = 18;

/// A number and the place behind it; nullptr: the text is no number of this form.
template <typename T>
struct TakenNumber {
  const char* end;
  T value;
};

/// Of any length.
[[nodiscard]] TakenNumber<std::uint64_t> take_long_natural(const char* at) noexcept;
[[nodiscard]] TakenNumber<std::int64_t> take_long_integer(const char* at) noexcept;
/// With or without fraction and exponent.
[[nodiscard]] TakenNumber<double> take_real(const char* at) noexcept;

namespace digits {

template <std::unsigned_integral Word>
[[nodiscard]] inline Word load(const char* at) noexcept {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// 0 to 9, or more: it is no digit.
[[nodiscard]] constexpr unsigned digit(char c) noexcept {
  return static_cast<unsigned>(static_cast<unsigned char>(c)) - '0';
}

/// Whether all bytes of `text`, less '0' each, are digits.
[[nodiscard]] constexpr bool are_digits(std::uint64_t bytes) noexcept {
  return ((bytes | (bytes + 0x7676'7676'7676'7676)) & 0x8080'8080'8080'8080) == 0;
}

/// The value of eight digits: pairs, then fours, then all.
[[nodiscard]] constexpr std::uint64_t value_of(std::uint64_t bytes) noexcept {
  bytes = (bytes * 2'561 >> 8) & 0x00FF'00FF'00FF'00FF;
  bytes = (bytes * 6'553'601 >> 16) & 0x0000'FFFF'0000'FFFF;
  return bytes * 42'949'672'960'001 >> 32;
}

}  // namespace digits

/// An integer in the range of T.
// Digit by digit: most have few, and the processor guesses where the number ends and reads on. If the place
// were computed from eight bytes, each key would wait for the number before it (docs/internals/decisions.md).
template <std::unsigned_integral T>
[[nodiscard]] inline TakenNumber<T> take_integer(const char* at) noexcept {
  constexpr int kUsualDigits = 8;
  std::uint64_t value = digits::digit(at[0]);
  if (value > 9) return {nullptr, 0};
  unsigned next = digits::digit(at[1]);
  if (next > 9) return {at + 1, static_cast<T>(value)};
  if (value == 0) return {nullptr, 0};
#pragma GCC unroll 8
  for (int i = 2; i < kUsualDigits; ++i) {
    value = value * 10 + next;
    next = digits::digit(at[i]);
    if (next > 9) return {at + i, static_cast<T>(value)};
  }
  const auto [end, whole] = take_long_natural(at);
  if (whole > std::numeric_limits<T>::max()) return {nullptr, 0};
  return {end, static_cast<T>(whole)};
}

/// Most are times: positive, with eight to 15 digits.
template <std::signed_integral T>
[[nodiscard]] inline TakenNumber<T> take_integer(const char* at) noexcept {
  constexpr int kWord = 8;
  const std::uint64_t bytes = digits::load<std::uint64_t>(at) ^ 0x3030'3030'3030'3030;
  if (sizeof(T) == sizeof(std::int64_t) && digits::are_digits(bytes) && *at != '0') {
    std::uint64_t value = digits::value_of(bytes);
#pragma GCC unroll 8
    for (int i = kWord; i < 2 * kWord; ++i) {
      const unsigned next = digits::digit(at[i]);
      if (next > 9) return {at + i, static_cast<T>(value)};
      value = value * 10 + next;
    }
  }
  const auto [end, whole] = take_long_integer(at);
  if (whole < std::numeric_limits<T>::min() || whole > std::numeric_limits<T>::max()) return {nullptr, 0};
  return {end, static_cast<T>(whole)};
}

}  // namespace rangefinder
