// SPDX-License-Identifier: Apache-2.0
//
// Where our library's large blocks come from: the kernel, not the application's heap.
//
//   operator new (injection/operator_new.cpp) ─ 8 KiB or more ─▶ LargeBlocks ─ table full ─▶ malloc
//
// A counter image of 12 to 24 MB that comes and goes with each window would leave its size, and the
// holes that small blocks tear into it, in the heap for good; so do tables and texts that double to some
// 100 KiB, by how the holes of earlier ones happen to lie. And glibc takes the largest mapped block
// that was ever freed for a hint on how the whole process uses memory: after one of ours it would serve
// the application's own blocks of up to that size from its heaps, where they came from the kernel
// before (mallopt(3), M_MMAP_THRESHOLD).
//
// Any thread, without a lock.
#pragma once

#include <atomic>
#include <cstddef>

namespace rangefinder {

class LargeBlocks {
 public:
  /// To map and unmap one stops the application's threads for a moment (TLB): no block that each record needs
  /// is so large, and for less the rest of the last page weighs.
  static constexpr std::size_t kMinBytes = std::size_t{8} << 10;
  static constexpr std::size_t kMaxBlocks = 256;  ///< at a time

  /// Of whole pages, zeroed. nullptr: there is no memory, `kMaxBlocks` are out, or `alignment` is over a
  /// page's.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) noexcept;
  /// Back to the kernel. False: `memory` is none of these blocks, and nothing was done.
  bool give_back(const void* memory) noexcept;

 private:
  struct Block {
    std::atomic<const void*> begin{nullptr};  // this table's address: being filled
    std::size_t bytes = 0;
  };

  Block blocks_[kMaxBlocks];
};

}  // namespace rangefinder
