// SPDX-License-Identifier: Apache-2.0
//
// Sorts a nearly sorted sequence by time, in bounded memory.
//
//   add(item, emit) … ─▶ held: at most 131,072 ─▶ emit(item), sorted by at_ns, unless an item comes more
//   finish(emit)                                  than 65,536 places late
//
// CUPTI delivers records by buffer, one buffer for each launching thread at a time, so with two threads
// records come thousands of places late. An item that is too late is emitted out of order: a caller that
// needs the order must check. Items are not moved: only times and places are sorted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

/// `Item` has a member at_ns. Items with equal times keep their order. `emit` must not call add().
template <typename Item>
class TimeOrder {
 public:
  static constexpr std::size_t kPlaces = 65'536;

  template <typename Emit>
  void add(const Item& item, Emit&& emit) {
    if (free_.empty()) {
      held_.push_back({item.at_ns, static_cast<std::uint32_t>(items_.size())});
      items_.push_back(item);
    } else {
      held_.push_back({item.at_ns, free_.back()});
      items_[free_.back()] = item;
      free_.pop_back();
    }
    if (held_.size() == 2 * kPlaces) release(kPlaces, emit);
  }
  template <typename Emit>
  void finish(Emit&& emit) {
    release(held_.size(), emit);
  }
  /// Emits what is held, sorted, and keeps it.
  template <typename Emit>
  void each_held(Emit&& emit) {
    sort();
    for (const Held& held : held_) emit(static_cast<const Item&>(items_[held.place]));
  }

 private:
  struct Held {
    TimeNs at_ns;
    std::uint32_t place;  // in items_
  };
  static bool earlier(const Held& a, const Held& b) noexcept { return a.at_ns < b.at_ns; }

  /// Merges the items added since the last call into those already sorted.
  void sort() {
    const auto middle = held_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    sorted_ = held_.size();
    if (!std::is_sorted(middle, held_.end(), earlier)) std::stable_sort(middle, held_.end(), earlier);
    if (middle == held_.begin() || middle == held_.end()) return;
    const auto first = std::upper_bound(held_.begin(), middle, *middle, earlier);
    const auto last = std::lower_bound(middle, held_.end(), *(middle - 1), earlier);
    std::inplace_merge(first, middle, last, earlier);
  }

  template <typename Emit>
  void release(std::size_t count, Emit&& emit) {
    sort();
    for (std::size_t i = 0; i < count; ++i) {
      emit(static_cast<const Item&>(items_[held_[i].place]));
      free_.push_back(held_[i].place);
    }
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(count));
    sorted_ = held_.size();
  }

  std::vector<Item> items_;
  std::vector<Held> held_;           // [0, sorted_) is sorted
  std::vector<std::uint32_t> free_;  // places in items_
  std::size_t sorted_ = 0;
};

}  // namespace rangefinder
