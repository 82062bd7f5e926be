// SPDX-License-Identifier: Apache-2.0
//
// First in, first out, in one block of memory. std::deque allocates and frees a small block for every few
// items that pass through it, and a moment in which many wait leaves their number of small blocks in the heap
// of the thread for good (docs/measured.md, "Nine minutes of windows"). This one's block is large: it comes
// from the kernel, of which only what was used is resident, and goes back to it (large_blocks.h).
//
// Not thread-safe. Amortised constant time for each item that passes.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "profiler/guest/reserve_large.h"

namespace rangefinder {

template <typename Item>
class ContiguousQueue {
 public:
  ContiguousQueue() { reserve_large(items_); }

  [[nodiscard]] bool empty() const noexcept { return head_ == items_.size(); }
  [[nodiscard]] std::size_t size() const noexcept { return items_.size() - head_; }
  [[nodiscard]] auto begin() noexcept { return items_.begin() + static_cast<std::ptrdiff_t>(head_); }
  [[nodiscard]] auto begin() const noexcept { return items_.begin() + static_cast<std::ptrdiff_t>(head_); }
  [[nodiscard]] auto end() noexcept { return items_.end(); }
  [[nodiscard]] auto end() const noexcept { return items_.end(); }
  [[nodiscard]] Item& front() noexcept { return items_[head_]; }

  void push_back(Item item) {
    // The items that left make room before more memory does; moving costs what those have cost that left.
    if (items_.size() == items_.capacity() && head_ >= items_.size() / 2) close_up();
    items_.push_back(std::move(item));
  }
  void pop_front() noexcept {
    ++head_;
    if (empty()) clear();
  }
  void clear() noexcept {
    items_.clear();
    head_ = 0;
  }
  /// What a crowded moment took goes back if nothing waits.
  void shrink() {
    if (!empty() || items_.capacity() * sizeof(Item) <= 2 * kLargeBytes) return;
    items_ = std::vector<Item>();
    reserve_large(items_);
  }

 private:
  static_assert(std::is_trivially_destructible_v<Item>, "what has left is not destroyed at once");

  void close_up() noexcept {
    items_.erase(items_.begin(), begin());
    head_ = 0;
  }

  std::vector<Item> items_;
  std::size_t head_ = 0;
};

}  // namespace rangefinder
