// SPDX-License-Identifier: Apache-2.0
//
// A map for keys of consecutive work, which repeat: of streams, or of the kernels of a layer. The places of
// recent keys are in a table by hash, so that most lookups compare one key.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>

namespace rangefinder {

template <typename Key, typename Value, std::size_t kRecent = 1024, typename Hash = std::hash<Key>>
class RecentMap {
  static_assert(std::has_single_bit(kRecent));

 public:
  using Map = std::unordered_map<Key, Value, Hash>;

  Value& operator[](const Key& key) {
    constexpr int kShift = 64 - std::countr_zero(kRecent);
    auto*& recent = recent_[kRecent == 1 ? 0 : Hash()(key) * 0x9E37'79B9'7F4A'7C15 >> kShift];
    if (recent == nullptr || !(recent->first == key)) recent = &*map_.try_emplace(key).first;
    return recent->second;
  }
  [[nodiscard]] const Map& map() const noexcept { return map_; }
  auto begin() { return map_.begin(); }
  auto end() { return map_.end(); }

 private:
  Map map_;
  std::array<typename Map::value_type*, kRecent> recent_{};
};

}  // namespace rangefinder
