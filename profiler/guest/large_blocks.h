// SPDX-License-Identifier: Apache-2.0
//
// Large blocks of our library: mapped from the kernel, not allocated in the application's heap.
//
//   operator new (injection/operator_new.cpp) ─ 8 KiB or more ─▶ LargeBlocks ─ table full ─▶ malloc
//
// Each window allocates a counter image of 12 to 24 MB. In the heap it would leave fragmented space of that
// size for good; tables and texts that double to some 100 KiB can do the same. Also, glibc raises its mmap
// threshold to the size of the largest mapped block that was ever freed. After one of ours it would serve the
// application's own blocks of up to that size from its heaps instead of the kernel (mallopt(3),
// M_MMAP_THRESHOLD).
//
// Any thread, without a lock.
#pragma once

#include <atomic>
#include <cstddef>

namespace rangefinder {

class LargeBlocks {
 public:
  /// Mapping and unmapping stop the application's threads for a moment (TLB), so this is larger than any
  /// block allocated for each record. For smaller blocks the unused rest of the last page would count.
  static constexpr std::size_t kMinBytes = std::size_t{8} << 10;
  static constexpr std::size_t kMaxBlocks = 256;  ///< at the same time

  /// Whole pages, zeroed. nullptr: no memory, `kMaxBlocks` are in use, or `alignment` is over a page.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) noexcept;
  /// Unmaps the block. False: `memory` is not one of these blocks, and nothing was done.
  bool give_back(const void* memory) noexcept;

 private:
  struct Block {
    std::atomic<const void*> begin{nullptr};  // this table's own address: being allocated
    std::size_t bytes = 0;
  };

  Block blocks_[kMaxBlocks];
};

}  // namespace rangefinder
