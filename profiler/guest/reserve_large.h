// SPDX-License-Identifier: Apache-2.0
//
// Room from the start for what grows while a window is recorded. A block of 128 KiB and more comes from the
// kernel, in our library smaller ones do too (large_blocks.h), elsewhere as glibc has it at first: of it only
// what was used is resident, and it goes back when it is freed. Grown from nothing by doubling, the same
// items would leave holes of each size in the heap of the thread.
#pragma once

#include <cstddef>
#include <new>

namespace rangefinder {

inline constexpr std::size_t kLargeBytes = std::size_t{128} << 10;  ///< glibc's own first threshold

/// Room in a vector or string for a large block at least, if there is memory for it.
template <typename Items>
void reserve_large(Items& items) {
  constexpr std::size_t kItemBytes = sizeof(typename Items::value_type);
  try {
    items.reserve((kLargeBytes + kItemBytes - 1) / kItemBytes);
  } catch (const std::bad_alloc&) {  // it grows from nothing then, as far as it can
  }
}

}  // namespace rangefinder
