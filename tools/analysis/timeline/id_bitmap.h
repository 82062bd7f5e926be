// SPDX-License-Identifier: Apache-2.0
//
// A set of ids that come nearly dense, such as correlation ids: a bit each, in pages
// that exist only where ids are. 10 million launches take 1.3 MB; a stray id in a
// damaged file costs one page.
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace rangefinder {

class IdBitmap {
 public:
  /// False: it was there.
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
  /// How many ids are in this set and in `other`.
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
