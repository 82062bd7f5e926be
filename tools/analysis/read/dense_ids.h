// SPDX-License-Identifier: Apache-2.0
//
// Numbers by id. Ids of a trace are dense, so most are places in a vector; larger ones come from a damaged
// trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace rangefinder {

class DenseIds {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// kNone: unknown.
  [[nodiscard]] std::uint32_t find(std::uint32_t id) const {
    if (id < dense_.size()) return dense_[id];
    const auto known = others_.find(id);
    return known == others_.end() ? kNone : known->second;
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

}  // namespace rangefinder
