// SPDX-License-Identifier: Apache-2.0
//
// Keeps the longest of many intervals in bounded memory: those visible when the whole trace is shown.
//
// Holds at most 2 * `limit` items; beyond that it drops the shorter half. Of equally long items, any may
// stay. Item has start_ns and end_ns. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

template <typename Item>
class LongestItems {
 public:
  explicit LongestItems(std::size_t limit) : limit_(limit) {}

  void add(const Item& item) {
    ++seen_;
    if (length(item) < shortest_ns_) return;
    items_.push_back(item);
    if (items_.size() > 2 * limit_) trim();
  }

  /// The items sorted by start; the object is empty afterwards.
  [[nodiscard]] std::vector<Item> extract() {
    if (items_.size() > limit_) trim();
    std::sort(items_.begin(), items_.end(),
              [](const Item& a, const Item& b) { return a.start_ns < b.start_ns; });
    return std::exchange(items_, {});
  }
  /// Number of items added.
  [[nodiscard]] std::uint64_t seen() const noexcept { return seen_; }

 private:
  static TimeNs length(const Item& item) { return item.end_ns - item.start_ns; }
  void trim() {
    const auto last = items_.begin() + static_cast<std::ptrdiff_t>(limit_) - 1;
    std::nth_element(items_.begin(), last, items_.end(),
                     [](const Item& a, const Item& b) { return length(a) > length(b); });
    shortest_ns_ = length(*last);
    items_.erase(last + 1, items_.end());
  }

  std::size_t limit_;
  std::vector<Item> items_;
  TimeNs shortest_ns_ = 0;
  std::uint64_t seen_ = 0;
};

}  // namespace rangefinder
