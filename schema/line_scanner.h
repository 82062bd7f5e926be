// SPDX-License-Identifier: Apache-2.0
//
// Reads the keys of one line from left to right, only in exactly the form that write_line() writes.
// fields.h describes its functions.
//
//   LineScanner keys(at, pool);     ,"gpu":0,"ctx":1}\n
//   keys.required("gpu"_key, gpu);  takes ,"gpu":0
//   keys.end();                     the next line, or nullptr: the parser has to read this one
//
// It reports no errors. What does not match moves it to a text of zeros, where nothing else matches.
//
// No length is checked: a line ends in '\n', which nothing here takes but end(). So no read begins behind it.
// kScanPadding bytes must be readable from there.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "schema/json_number.h"
#include "schema/key.h"
#include "schema/record.h"
#include "schema/scan_line.h"
#include "schema/text_pool.h"

namespace rangefinder {

class LineScanner {
 public:
  static constexpr bool kReads = true, kInOrder = true;

  LineScanner(const char* at, TextPool& pool) noexcept : at_(at), pool_(&pool) {}

  /// What comes next.
  [[nodiscard]] char next() const noexcept { return *at_; }
  /// Takes `c` if it comes next.
  [[nodiscard]] bool take(char c) noexcept {
    if (*at_ != c) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] bool take(std::string_view text) noexcept {
    if (!starts_with(text)) return false;
    at_ += text.size();
    return true;
  }
  template <typename Key>
  [[nodiscard]] bool take_key(Key) noexcept {
    if (!begins<Key>(at_)) return false;
    at_ += Key::kMember.size();
    return true;
  }
  template <std::integral T>
  void number(T& value) noexcept {
    set(take_integer<T>(at_), value);
  }
  void number(double& value) noexcept { set(take_real(at_), value); }
  /// A text in quotes: ASCII without escapes. A view of the line.
  [[nodiscard]] std::string_view quoted() noexcept {
    const char* const first = at_ + 1;
    const char* const last = next() == '"' ? plain_end(first) : kNothing;
    if (*last != '"') {
      fail();
      return {};
    }
    at_ = last + 1;
    return {first, static_cast<std::size_t>(last - first)};
  }
  /// A text in quotes that is one of `names`: its index.
  [[nodiscard]] std::size_t name(const std::string_view* names, std::size_t count) noexcept;
  /// "0x…" in quotes.
  void quoted_handle(std::uint64_t& value) noexcept;
  void skip_to_comma() noexcept {
    while (*at_ != ',' && *at_ >= ' ') ++at_;
  }
  /// The rest is left to the parser unless `condition` holds.
  void expect(bool condition) noexcept {
    if (!condition) fail();
  }
  [[nodiscard]] bool failed() const noexcept { return at_ == kNothing; }

  /// Behind the end of the object and of the line; nullptr: something did not match.
  [[nodiscard]] const char* end() const noexcept {
    constexpr std::uint16_t kEnd = '}' | '\n' << 8;
    return digits::load<std::uint16_t>(at_) == kEnd ? at_ + 2 : nullptr;
  }

  template <typename Key, std::integral T>
  void required(Key key, T& value) noexcept {
    expect(take_key(key));
    number(value);
  }
  template <typename Key>
  void required(Key key, bool& value) noexcept {
    expect(take_key(key));
    value = take("true");
    expect(value || take("false"));
  }
  template <typename Key>
  void required(Key key, std::string& value) {
    expect(take_key(key));
    value = quoted();
  }
  template <typename Key>
  void required(Key key, Dim3& value) noexcept {
    expect(take_key(key));
    dimensions(value);
  }
  template <typename Key, typename Enum, std::size_t N>
  void required(Key key, Enum& value, const std::array<std::string_view, N>& names) noexcept {
    expect(take_key(key));
    value = static_cast<Enum>(name(names.data(), N));
  }
  template <typename Key, typename T>
  void optional(Key key, T& value) {
    if (present(true, key)) required(key, value);
  }
  /// Omitted unless it is true.
  template <typename Key>
  void optional(Key key, bool& value) noexcept {
    if (take_key(key)) expect(value = take("true"));
  }
  template <typename Key>
  void time(Key key, TimeNs& ns) noexcept {
    required(key, ns);
  }
  template <typename Key>
  void time_or_null(Key key, TimeNs& ns) noexcept {
    expect(take_key(key));
    if (next() != 'n') {
      number(ns);
    } else {
      expect(take("null"));
    }
  }
  template <typename Key>
  void text(Key key, std::string_view& value) {
    expect(take_key(key));
    value = pool_->keep(quoted());
  }
  template <typename Key>
  void handle(Key key, std::uint64_t& value) noexcept {
    expect(take_key(key));
    quoted_handle(value);
  }
  template <typename Key>
  void nonzero_handle(Key key, std::uint64_t& value) noexcept {
    if (take_key(key)) quoted_handle(value);
  }
  /// The first of these keys that is in the line comes next.
  template <typename Key, typename... Others>
  [[nodiscard]] bool present(bool, Key, Others...) const noexcept {
    return begins<Key>(at_);
  }

 private:
  static constexpr char kNothing[kScanPadding] = {};

  void fail() noexcept { at_ = kNothing; }
  template <typename T>
  void set(TakenNumber<T> number, T& value) noexcept {
    value = number.value;
    at_ = number.end;
    if (at_ == nullptr) fail();
  }
  void dimensions(Dim3& value) noexcept;

  /// The first byte that is '"', '\\', below ' ', or not ASCII.
  [[nodiscard]] static const char* plain_end(const char* at) noexcept {
    constexpr std::uint64_t kOnes = 0x0101'0101'0101'0101;
    for (;; at += sizeof(std::uint64_t)) {
      const auto word = digits::load<std::uint64_t>(at);
      // Such a byte gets its highest bit. A borrow from it changes only bytes behind it.
      const std::uint64_t special =
          (((word ^ kOnes * '"') - kOnes) | ((word ^ kOnes * '\\') - kOnes) | (word - kOnes * ' ')) &
          kOnes * 0x80;
      if (special != 0) return at + std::countr_zero(special) / 8;
    }
  }
  [[nodiscard]] bool starts_with(std::string_view text) const noexcept {
    return std::memcmp(at_, text.data(), text.size()) == 0;
  }

  /// Characters of a key, from the one at `first`, as load() reads them.
  template <std::unsigned_integral Word, typename Key>
  static consteval Word word_of(std::size_t first) {
    Word word = 0;
    for (std::size_t i = sizeof word; i > 0; --i) {
      word = static_cast<Word>(word << 8 | static_cast<unsigned char>(Key::kMember[first + i - 1]));
    }
    return word;
  }
  /// Compares words: the last overlaps the one before.
  template <typename Key>
  [[nodiscard]] static bool begins(const char* at) noexcept {
    using Half = std::uint32_t;
    using Word = std::uint64_t;
    constexpr std::size_t kSize = Key::kMember.size();
    static_assert(kSize >= sizeof(Half) && kSize <= 3 * sizeof(Word) && kSize <= kScanPadding);
    if constexpr (kSize < sizeof(Word)) {
      constexpr std::size_t kLast = kSize - sizeof(Half);
      return digits::load<Half>(at) == word_of<Half, Key>(0) &&
             digits::load<Half>(at + kLast) == word_of<Half, Key>(kLast);
    } else {
      if (digits::load<Word>(at) != word_of<Word, Key>(0)) return false;
      if constexpr (kSize > 2 * sizeof(Word)) {
        if (digits::load<Word>(at + sizeof(Word)) != word_of<Word, Key>(sizeof(Word))) return false;
      }
      using Rest = std::conditional_t<kSize <= sizeof(Word) + sizeof(Half), Half, Word>;
      constexpr std::size_t kLast = kSize - sizeof(Rest);
      return kSize == sizeof(Word) || digits::load<Rest>(at + kLast) == word_of<Rest, Key>(kLast);
    }
  }

  const char* at_;
  TextPool* pool_;
};

// Contents that no list of keys describes. Each mirrors one in line_writer.h.
[[nodiscard]] LineScanner scan_extras(LineScanner keys, NvtxExtras& extras);
// By value: a scanner whose address is passed on cannot be in registers.
inline void fields(LineScanner& keys, NvtxExtras& extras) {
  if (keys.next() != '}') keys = scan_extras(keys, extras);
}
void measurement_fields(LineScanner& keys, ExactRecord& record);
void sample_fields(LineScanner& keys, SamplesRecord& record);

}  // namespace rangefinder
