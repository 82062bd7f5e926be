// SPDX-License-Identifier: Apache-2.0
//
// Puts in order of time what comes nearly in order, in bounded memory.
//
//   add(item, emit) … ─▶ held: at most 131,072 ─▶ emit(item), by at_ns, as long as nothing comes more
//   finish(emit)                                  than 65,536 places too late
//
// CUPTI hands over records by buffer, streams and threads side by side: in recorded runs a record is up
// to a millisecond behind those before it. What comes later than that is emitted out of order: whoever
// needs the order has to look.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

/// `Item` has a member at_ns. Items of the same time keep their order.
template <typename Item>
class TimeOrder {
 public:
  static constexpr std::size_t kPlaces = 65'536;

  template <typename Emit>
  void add(const Item& item, Emit&& emit) {
    held_.push_back(item);
    if (held_.size() == 2 * kPlaces) release(kPlaces, emit);
  }
  template <typename Emit>
  void finish(Emit&& emit) {
    release(held_.size(), emit);
  }

 private:
  template <typename Emit>
  void release(std::size_t count, Emit&& emit) {
    const auto earlier = [](const Item& a, const Item& b) { return a.at_ns < b.at_ns; };
    if (!std::is_sorted(held_.begin(), held_.end(), earlier)) {
      std::stable_sort(held_.begin(), held_.end(), earlier);
    }
    for (std::size_t i = 0; i < count; ++i) emit(held_[i]);
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(count));
  }

  std::vector<Item> held_;
};

}  // namespace rangefinder
