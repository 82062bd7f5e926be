// SPDX-License-Identifier: Apache-2.0
//
// The longest of very many intervals, in bounded memory: what can be seen when all of a trace is looked at.
//
// Keeps between `most` and twice as many, and throws the shorter half away when they are more. Which of
// equally long ones stay is not specified. Item has start_ns and end_ns. Not thread-safe.
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
  explicit LongestItems(std::size_t most) : most_(most) {}

  void add(const Item& item) {
    ++seen_;
    if (length(item) < shortest_ns_) return;
    items_.push_back(item);
    if (items_.size() > 2 * most_) trim();
  }

  /// By start; the object is empty afterwards.
  [[nodiscard]] std::vector<Item> take() {
    if (items_.size() > most_) trim();
    std::sort(items_.begin(), items_.end(),
              [](const Item& a, const Item& b) { return a.start_ns < b.start_ns; });
    return std::exchange(items_, {});
  }
  /// How many were added at all.
  [[nodiscard]] std::uint64_t seen() const noexcept { return seen_; }

 private:
  static TimeNs length(const Item& item) { return item.end_ns - item.start_ns; }
  void trim() {
    const auto last = items_.begin() + static_cast<std::ptrdiff_t>(most_) - 1;
    std::nth_element(items_.begin(), last, items_.end(),
                     [](const Item& a, const Item& b) { return length(a) > length(b); });
    shortest_ns_ = length(*last);
    items_.erase(last + 1, items_.end());
  }

  std::size_t most_;
  std::vector<Item> items_;
  TimeNs shortest_ns_ = 0;
  std::uint64_t seen_ = 0;
};

}  // namespace rangefinder
