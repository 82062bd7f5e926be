// SPDX-License-Identifier: Apache-2.0
//
// A FIFO queue in one block of memory. std::deque allocates and frees a small block for every few items, and
// a peak of waiting items leaves that many small blocks in the thread's heap for good
// (docs/internals/measured.md, "Nine minutes of windows"). Here the block is large: it is mapped from the
// kernel, only used pages are resident, and it is returned to the kernel (large_blocks.h).
//
// Not thread-safe. Amortised constant time per item.
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
    // Reuses the room of removed items before growing. At least half were removed, so moves are amortised.
    if (items_.size() == items_.capacity() && head_ >= items_.size() / 2) compact();
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
  /// Releases the memory of a past peak if the queue is empty.
  void shrink() {
    if (!empty() || items_.capacity() * sizeof(Item) <= 2 * kLargeBytes) return;
    items_ = std::vector<Item>();
    reserve_large(items_);
  }

 private:
  static_assert(std::is_trivially_destructible_v<Item>, "pop_front() does not destroy the item");

  void compact() noexcept {
    items_.erase(items_.begin(), begin());
    head_ = 0;
  }

  std::vector<Item> items_;
  std::size_t head_ = 0;
};

}  // namespace rangefinder
