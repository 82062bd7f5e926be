// SPDX-License-Identifier: Apache-2.0
//
// A set of nearly dense ids, such as correlation ids: one bit per id, in pages that are allocated on demand.
// 10 million launches take 1.3 MB; a stray id in a damaged file costs one page.
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace rangefinder {

class IdBitmap {
 public:
  /// False: the id was already in the set.
  bool insert(std::uint64_t id) {
    auto& page = pages_[id / kPageIds];
    if (!page) page = std::make_unique<std::bitset<kPageIds>>();
    const bool is_new = !page->test(id % kPageIds);
    page->set(id % kPageIds);
    return is_new;
  }
  [[nodiscard]] bool contains(std::uint64_t id) const {
    const auto it = pages_.find(id / kPageIds);
    return it != pages_.end() && it->second->test(id % kPageIds);
  }
  [[nodiscard]] std::uint64_t size() const { return count_shared(*this); }
  /// Number of ids in both this set and `other`.
  [[nodiscard]] std::uint64_t count_shared(const IdBitmap& other) const {
    std::uint64_t shared = 0;
    for (const auto& [number, page] : pages_) {
      const auto there = other.pages_.find(number);
      if (there != other.pages_.end()) shared += (*page & *there->second).count();
    }
    return shared;
  }

 private:
  static constexpr std::size_t kPageIds = 32'768;  // 4 KiB
  std::unordered_map<std::uint64_t, std::unique_ptr<std::bitset<kPageIds>>> pages_;
};

}  // namespace rangefinder
