// SPDX-License-Identifier: Apache-2.0
#include "schema/read_plain.h"

#include <concepts>
#include <cstring>
#include <limits>

#include "schema/fields.h"

namespace rangefinder {
namespace {

/// Scans a line from left to right; fields.h describes its functions. What does not match moves it to the
/// end, where nothing else matches.
class Scanner {
 public:
  static constexpr bool kReads = true;

  Scanner(std::string_view text, TextPool& pool) noexcept
      : at_(text.data()), end_(text.data() + text.size()), pool_(pool) {}

  /// Text that does not match leaves the position unchanged.
  template <std::size_t N>
  [[nodiscard]] bool take(const char (&literal)[N]) noexcept {
    return take(literal, N - 1);
  }
  [[nodiscard]] bool take(std::string_view text) noexcept { return take(text.data(), text.size()); }
  /// End of the object and of the line.
  [[nodiscard]] bool ends() noexcept {
    return take("}") && (at_ == end_ || (*at_ == '\n' && at_ + 1 == end_));
  }

  template <typename Key, std::integral T>
  void required(Key key, T& value) noexcept {
    if (!take_key(key) || !take_integer(value)) fail();
  }
  template <typename Key, std::integral T>
  void optional(Key key, T& value) noexcept {
    if (take_key(key) && !take_integer(value)) fail();
  }
  template <typename Key>
  void optional(Key key, bool& value) noexcept {
    if (take_key(key) && !(value = take("true"))) fail();
  }
  template <typename Key>
  void time(Key key, TimeNs& ns) noexcept {
    required(key, ns);
  }
  template <typename Key>
  void time_or_null(Key key, TimeNs& ns) noexcept {
    required(key, ns);
  }
  template <typename Key>
  void text(Key key, std::string_view& value) {
    std::string_view text;
    if (take_key(key) && take_text(text)) {
      value = pool_.keep(text);
    } else {
      fail();
    }
  }
  template <typename Key, typename... Others>
  [[nodiscard]] bool present(bool, Key, Others...) const noexcept {
    return begins(Key::kMember.data(), Key::kMember.size());
  }

 private:
  void fail() noexcept { at_ = end_; }

  [[nodiscard]] bool begins(const char* text, std::size_t length) const noexcept {
    return static_cast<std::size_t>(end_ - at_) >= length && std::memcmp(at_, text, length) == 0;
  }
  [[nodiscard]] bool take(const char* text, std::size_t length) noexcept {
    if (!begins(text, length)) return false;
    at_ += length;
    return true;
  }
  template <typename Key>
  [[nodiscard]] bool take_key(Key) noexcept {
    return take(Key::kMember.data(), Key::kMember.size());
  }

  /// A JSON integer: digits without a leading zero, one '-' if T is signed. At most 18 digits, so that
  /// nothing overflows.
  template <std::integral T>
  [[nodiscard]] bool take_integer(T& value) noexcept {
    const char* at = at_;
    bool negative = false;
    if constexpr (std::is_signed_v<T>) {
      negative = at != end_ && *at == '-';
      at += negative ? 1 : 0;
    }
    const char* const first = at;
    std::uint64_t magnitude = 0;
    for (; at != end_ && is_digit(*at); ++at) {
      if (at - first == kMaxDigits) return false;
      magnitude = magnitude * 10 + static_cast<unsigned char>(*at - '0');
    }
    if (at == first || (*first == '0' && (at - first > 1 || negative))) return false;
    if (magnitude > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) return false;
    value = static_cast<T>(magnitude);
    if (negative) value = static_cast<T>(-value);
    at_ = at;
    return true;
  }

  /// A text in quotes: ASCII without escapes.
  [[nodiscard]] bool take_text(std::string_view& text) noexcept {
    if (at_ == end_ || *at_ != '"') return false;
    const char* at = at_ + 1;
    while (at != end_ && *at >= ' ' && *at <= '~' && *at != '"' && *at != '\\') ++at;
    if (at == end_ || *at != '"') return false;
    text = std::string_view(at_ + 1, static_cast<std::size_t>(at - at_ - 1));
    at_ = at + 1;
    return true;
  }

  static constexpr std::ptrdiff_t kMaxDigits = 18;
  static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

  const char* at_;
  const char* end_;
  TextPool& pool_;
};

/// Left to the parser: what follows is not the end.
void fields(Scanner&, NvtxExtras&) {}

template <typename Record>
bool scan(Scanner at, Line& line) {
  if (!at.take(kKind<Record>.name) || !at.take("\"")) return false;
  fields(at, line.emplace<Record>());
  return at.ends();
}

}  // namespace

// Flattened: the length of each key has to be known where it is compared.
[[gnu::flatten]] bool read_plain(std::string_view text, TextPool& pool, Line& line) {
  Scanner at(text, pool);
  return at.take(R"({"t":")") &&
         (scan<KernelRecord>(at, line) || scan<LaunchRecord>(at, line) || scan<RangeRecord>(at, line));
}

}  // namespace rangefinder
