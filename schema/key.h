// SPDX-License-Identifier: Apache-2.0
//
// A key of a line as a type, so that its text and length are known at compile time.
//
//   "start"_key                   LineKey<"start">
//   LineKey<"start">::kMember     ,"start":
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace rangefinder {

/// A text as a template argument.
template <std::size_t N>
struct Literal {
  consteval Literal(const char (&literal)[N]) {
    std::copy_n(literal, N, text);
  }  // NOLINT: converts on purpose
  [[nodiscard]] constexpr std::string_view view() const noexcept { return {text, N - 1}; }
  char text[N];  // public: the type of a template argument has no private members
};

template <Literal kLiteral>
struct LineKey {
  static constexpr std::string_view kText = kLiteral.view();
  /// As written behind another key, with comma and colon.
  static constexpr auto kMember = [] {
    std::array<char, kText.size() + 4> member{',', '"'};
    std::copy(kText.begin(), kText.end(), member.begin() + 2);
    member[kText.size() + 2] = '"';
    member[kText.size() + 3] = ':';
    return member;
  }();
  constexpr operator std::string_view() const noexcept { return kText; }  // NOLINT: converts on purpose
};

template <Literal kLiteral>
consteval LineKey<kLiteral> operator""_key() {
  return {};
}

/// The record that an archive reads into, or writes.
template <typename Archive, typename Record>
using Ref = std::conditional_t<Archive::kReads, Record&, const Record&>;

}  // namespace rangefinder
