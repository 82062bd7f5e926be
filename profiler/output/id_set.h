// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rangefinder {

/// A set of small numbers, as a bitmap. It can only be cleared as a whole.
class IdSet {
 public:
  /// True if `id` was not in the set.
  bool add(std::uint32_t id) {
    const std::size_t word = id / 64;
    if (word >= words_.size()) words_.resize(word + 1);
    const std::uint64_t bit = std::uint64_t{1} << (id % 64);
    if ((words_[word] & bit) != 0) return false;
    words_[word] |= bit;
    return true;
  }
  [[nodiscard]] bool contains(std::uint32_t id) const noexcept {
    const std::size_t word = id / 64;
    return word < words_.size() && (words_[word] >> (id % 64) & 1) != 0;
  }
  void clear() noexcept { words_.clear(); }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace rangefinder
