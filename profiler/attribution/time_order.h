// SPDX-License-Identifier: Apache-2.0
//
// Sorts a nearly sorted sequence by time, in bounded memory.
//
//   add(item, emit) … ─▶ held: at most 131,072 ─▶ emit(item), sorted by at_ns, unless an item comes more
//   finish(emit)                                  than 65,536 places late
//
// CUPTI delivers records by buffer, one buffer for each launching thread at a time, so with two threads
// records come thousands of places late. An item that is too late is emitted out of order: a caller that
// needs the order must check. Only what is out of order is sorted: most items are copied once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
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
    items_.push_back(item);
    if (items_.size() == 2 * kPlaces) release(kPlaces, emit);
  }
  /// Emits the items until `until`: none that is earlier will be added.
  template <typename Emit>
  void release_until(TimeNs until, Emit&& emit) {
    sort();
    const auto end = std::upper_bound(items_.begin(), items_.end(), until,
                                      [](TimeNs time, const Item& item) { return time < item.at_ns; });
    for (auto item = items_.begin(); item != end; ++item) emit(static_cast<const Item&>(*item));
    items_.erase(items_.begin(), end);
    sorted_ = items_.size();
  }
  /// Emits all, and frees the memory.
  template <typename Emit>
  void finish(Emit&& emit) {
    release(items_.size(), emit);
    *this = TimeOrder();
  }
  /// Emits what is held, sorted, and keeps it.
  template <typename Emit>
  void each_held(Emit&& emit) {
    sort();
    for (const Item& item : items_) emit(item);
  }

 private:
  struct Place {
    TimeNs at_ns;
    std::uint32_t index;  // in items_
  };
  static bool earlier(const Place& a, const Place& b) noexcept {
    return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.index < b.index;
  }

  /// Finds the order of the items, in places_. False: they are in order as they are.
  bool find_order() {
    std::size_t late = sorted_;  // the first one that is
    const std::size_t size = items_.size();
    while (late < size && (late == 0 || items_[late - 1].at_ns <= items_[late].at_ns)) ++late;
    if (late == size) return false;
    places_.clear();
    late_.clear();
    for (std::size_t i = 0; i < size; ++i) {
      const Place place{items_[i].at_ns, static_cast<std::uint32_t>(i)};
      const bool in_order = i < late || places_.back().at_ns <= place.at_ns;
      (in_order ? places_ : late_).push_back(place);
    }
    std::sort(late_.begin(), late_.end(), earlier);
    const auto middle = static_cast<std::ptrdiff_t>(places_.size());
    places_.insert(places_.end(), late_.begin(), late_.end());
    const auto first = std::upper_bound(places_.begin(), places_.begin() + middle, late_.front(), earlier);
    std::inplace_merge(first, places_.begin() + middle, places_.end(), earlier);
    return true;
  }

  void sort() {
    if (find_order()) take_from(0);
    sorted_ = items_.size();
  }
  /// Keeps the items from `place` on, in order.
  void take_from(std::size_t place) {
    other_.clear();
    for (; place < places_.size(); ++place) other_.push_back(items_[places_[place].index]);
    items_.swap(other_);
  }

  template <typename Emit>
  void release(std::size_t count, Emit&& emit) {
    if (find_order()) {
      for (std::size_t i = 0; i < count; ++i) emit(static_cast<const Item&>(items_[places_[i].index]));
      take_from(count);
    } else {
      for (std::size_t i = 0; i < count; ++i) emit(static_cast<const Item&>(items_[i]));
      items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(count));
    }
    sorted_ = items_.size();
  }

  std::vector<Item> items_;  // [0, sorted_) is sorted
  std::size_t sorted_ = 0;
  // While items are sorted; they keep their memory.
  std::vector<Place> places_, late_;
  std::vector<Item> other_;
};

}  // namespace rangefinder
