// SPDX-License-Identifier: Apache-2.0
//
// Appends JSON text to a string. Every line of the trace is written with it.
//
//   JsonObject line(out);                        out
//   line.text("t", "kernel");          ──▶       {"t":"kernel"
//   line.number("start", 1200);                  ,"start":1200
//   line.nonzero("path", 0);                     (nothing: 0 is omitted)
//   line.close();                                }
//
// The result is always valid UTF-8 and valid JSON, whatever bytes a text contains.
// Only `out` allocates; no state outlives a call; no dependency. Does not indent, sort,
// or detect duplicate keys.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "schema/key.h"

namespace rangefinder {

/// Appends `text` as a JSON string, quotes included. A byte that is not part of a valid
/// UTF-8 sequence becomes U+FFFD; control characters (below 0x20, and 0x7f) are escaped.
void append_json_string(std::string& out, std::string_view text);

/// Appends `text` unescaped; every byte that is not part of a valid UTF-8 sequence becomes U+FFFD. A
/// reader of append_json_string() gets the same text.
void append_valid_utf8(std::string& out, std::string_view text);

/// Appends the shortest decimal that reads back as the same value. NaN and infinities, which JSON does
/// not have, become the strings "nan", "inf" and "-inf".
void append_json_real(std::string& out, double value);
void append_json_real(std::string& out, float value);

/// Appends "0x…" in quotes: lower case, no leading zeros.
void append_json_handle(std::string& out, std::uint64_t value);

/// A key that needs no escaping: a literal of at most kMaxLength characters.
class JsonKey {
 public:
  static constexpr std::size_t kMaxLength = 40;
  template <std::size_t N>
  consteval JsonKey(const char (&literal)[N])  // NOLINT: literals convert on purpose
      : text_(literal, N - 1) {
    static_assert(N >= 2 && N - 1 <= kMaxLength);
  }
  template <Literal kLiteral>
  constexpr JsonKey(LineKey<kLiteral> key)  // NOLINT: the same
      : text_(key) {
    static_assert(LineKey<kLiteral>::kText.size() <= kMaxLength);
  }
  [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

 private:
  std::string_view text_;
};

/// Appends one object to `out`, which must outlive it. Call close() once, at the end.
class JsonObject {
 public:
  explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

  void close() { out_ += '}'; }

  /// Integers: always written.
  template <std::integral T>
  void number(JsonKey key, T value) {
    char buffer[kKeyRoom + 24];
    char* const digits = put_key(buffer, key);
    const auto result = std::to_chars(digits, buffer + sizeof buffer, value);
    out_.append(buffer, static_cast<std::size_t>(result.ptr - buffer));
  }
  /// Integers: omitted if 0.
  template <std::integral T>
  void nonzero(JsonKey key, T value) {
    if (value != 0) number(key, value);
  }
  void real(JsonKey key, double value) { append_json_real(open(key), value); }
  void text(JsonKey key, std::string_view value) { append_json_string(open(key), value); }
  /// Texts: omitted if empty.
  void nonempty(JsonKey key, std::string_view value) {
    if (!value.empty()) text(key, value);
  }
  /// Booleans: omitted if false.
  void flag(JsonKey key, bool value) {
    if (value) open(key).append("true");
  }
  void null(JsonKey key) { open(key).append("null"); }
  void handle(JsonKey key, std::uint64_t value) { append_json_handle(open(key), value); }
  void nonzero_handle(JsonKey key, std::uint64_t value) {
    if (value != 0) handle(key, value);
  }

  /// An array of texts: always written.
  template <typename Texts>
  void texts(JsonKey key, const Texts& values) {
    std::string& to = open(key);
    to += '[';
    for (bool first = true; const auto& value : values) {
      if (!first) to += ',';
      first = false;
      append_json_string(to, value);
    }
    to += ']';
  }

  /// Writes only the key and returns `out`; the caller appends the value.
  std::string& open(JsonKey key) {
    char buffer[kKeyRoom];
    out_.append(buffer, static_cast<std::size_t>(put_key(buffer, key) - buffer));
    return out_;
  }
  /// The same for a key that is not a literal: escaped.
  std::string& open_named(std::string_view key) {
    if (!first_) out_ += ',';
    first_ = false;
    append_json_string(out_, key);
    out_ += ':';
    return out_;
  }

 private:
  static constexpr std::size_t kKeyRoom = JsonKey::kMaxLength + 4;  // ,"key":

  char* put_key(char* to, JsonKey key) {
    if (!first_) *to++ = ',';
    first_ = false;
    *to++ = '"';
    std::memcpy(to, key.text().data(), key.text().size());
    to += key.text().size();
    *to++ = '"';
    *to++ = ':';
    return to;
  }

  std::string& out_;
  bool first_ = true;
};

}  // namespace rangefinder
