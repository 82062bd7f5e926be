// SPDX-License-Identifier: Apache-2.0
//
// Numbers by id, and sets of ids. Ids of a trace are nearly dense; stray ones come from a damaged trace.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace rangefinder {

/// Most ids are places in a vector.
class DenseIds {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// kNone: unknown.
  [[nodiscard]] std::uint32_t find(std::uint32_t id) const {
    if (id < dense_.size()) return dense_[id];
    const auto at = others_.find(id);
    return at == others_.end() ? kNone : at->second;
  }
  void set(std::uint32_t id, std::uint32_t number) {
    if (id >= kMaxDense) {
      others_[id] = number;
      return;
    }
    if (id >= dense_.size()) dense_.resize(id + std::size_t{1} + dense_.size() / 2, kNone);
    dense_[id] = number;
  }

 private:
  static constexpr std::uint32_t kMaxDense = 1U << 20;
  std::vector<std::uint32_t> dense_;
  std::unordered_map<std::uint32_t, std::uint32_t> others_;
};

/// A set of ids, such as correlation ids: one bit per id, in pages that are allocated on demand. 10 million
/// launches take 1.3 MB; a stray id costs one page.
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
