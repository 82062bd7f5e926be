// SPDX-License-Identifier: Apache-2.0
//
// The JSON that a probe prints: what a profiler must find. Builds text, knows no CUDA.
//
//   Object o;  o.add("kernels", 3).add("path", "a/b");   o.text() == {"kernels":3,"path":"a/b"}
//
// Strings must be valid UTF-8; callers write other bytes in hex (hex()).
#pragma once

#include <concepts>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace rangefinder::probe {

inline std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

inline std::string hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

class Array;

class Object {
 public:
  Object& add(std::string_view key, std::string_view value) { return put(key, quoted(value)); }
  Object& add(std::string_view key, const char* value) { return put(key, quoted(value)); }
  Object& add(std::string_view key, bool value) { return put(key, value ? "true" : "false"); }
  template <std::integral T>
  Object& add(std::string_view key, T value) {
    return put(key, std::to_string(value));
  }
  Object& add(std::string_view key, double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%.6g", value);
    return put(key, text);
  }
  Object& add(std::string_view key, const Object& value) { return put(key, value.text()); }
  Object& add(std::string_view key, const Array& value);

  [[nodiscard]] std::string text() const { return "{" + body_ + "}"; }

 private:
  Object& put(std::string_view key, std::string_view json) {
    if (!body_.empty()) body_ += ", ";
    body_ += quoted(key);
    body_ += ": ";
    body_ += json;
    return *this;
  }
  std::string body_;
};

class Array {
 public:
  Array& add(const Object& value) { return put(value.text()); }
  Array& add(std::string_view value) { return put(quoted(value)); }
  Array& add(std::int64_t value) { return put(std::to_string(value)); }
  [[nodiscard]] std::string text() const { return "[" + body_ + "]"; }

 private:
  Array& put(const std::string& json) {
    if (!body_.empty()) body_ += ", ";
    body_ += json;
    return *this;
  }
  std::string body_;
};

inline Object& Object::add(std::string_view key, const Array& value) {
  return put(key, value.text());
}

/// Prints the one line on stdout.
inline void print(const Object& expectation) {
  std::printf("%s\n", expectation.text().c_str());
  std::fflush(stdout);
}

}  // namespace rangefinder::probe
