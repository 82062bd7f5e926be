// SPDX-License-Identifier: Apache-2.0
//
// The texts of a trace that recur, such as names of driver functions: one copy of each.
//
// Not thread-safe. Removes nothing.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>

namespace rangefinder {

/// Interned texts, which outlive the line they came from.
class TextPool {
 public:
  /// The same text, valid as long as the pool.
  [[nodiscard]] std::string_view keep(std::string_view text) {
    if (text.empty()) return {};
    std::string_view& recent = recent_[place_of(text)];
    if (text != recent) recent = find(text);
    return recent;
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  static constexpr std::size_t kRecent = 32;

  /// Length and middle distinguish the driver's functions: cuMemcpyHtoDAsync and cuMemcpyDtoHAsync.
  static std::size_t place_of(std::string_view text) noexcept {
    return (text.size() * 5 + static_cast<unsigned char>(text[text.size() / 2]) * 9) % kRecent;
  }
  [[gnu::noinline]] std::string_view find(std::string_view text) {
    auto it = texts_.find(text);
    if (it == texts_.end()) it = texts_.emplace(text).first;
    return *it;  // a node: its address is stable
  }

  std::unordered_set<std::string, Hash, std::equal_to<>> texts_;
  std::array<std::string_view, kRecent> recent_;  // in texts_; several names alternate
};

}  // namespace rangefinder
