// SPDX-License-Identifier: Apache-2.0
//
// Texts that are too long: the beginning, and a hash of the whole, so that two texts stay two.
//
//   kernel_xxxxxxxx…x1 ─▶ kernel_xxxx…~0c5f01a2b3c4d5e6
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace rangefinder {

inline constexpr std::size_t kHashDigits = 16;

inline void write_hash(std::uint64_t hash, char* out) noexcept {
  for (std::size_t i = kHashDigits; i-- > 0; hash >>= 4) out[i] = "0123456789abcdef"[hash & 15];
}

/// `text` cut to the length of `out`, at the beginning of a UTF-8 character; ends with `~` and `hash`.
/// `text` is longer than `out`, and `out` than 17 bytes.
[[nodiscard]] inline std::string_view cut_text(std::string_view text, std::uint64_t hash,
                                               std::span<char> out) noexcept {
  std::size_t kept = out.size() - kHashDigits - 1;
  for (int i = 0; i < 3 && (static_cast<unsigned char>(text[kept]) & 0xC0) == 0x80; ++i) --kept;
  std::memcpy(out.data(), text.data(), kept);
  out[kept] = '~';
  write_hash(hash, out.data() + kept + 1);
  return {out.data(), kept + 1 + kHashDigits};
}

/// Collects a text of unknown length. Of one that does not fit, the last 16 characters are a hash of the
/// rest.
class TextBuffer {
 public:
  /// `out` is longer than 16 bytes.
  explicit TextBuffer(std::span<char> out) noexcept : out_(out) {}

  void put(char c) noexcept {
    if (used_ < out_.size()) {
      out_[used_] = c;
    } else {
      rest_ = (rest_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    }
    ++used_;
  }
  [[nodiscard]] std::string_view text() noexcept {
    if (used_ <= out_.size()) return {out_.data(), used_};
    const std::span<char> end = out_.last(kHashDigits);
    for (const char c : end) rest_ = (rest_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    write_hash(rest_, end.data());
    return {out_.data(), out_.size()};
  }

 private:
  std::span<char> out_;
  std::size_t used_ = 0;
  std::uint64_t rest_ = 0xcbf29ce484222325u;
};

}  // namespace rangefinder
