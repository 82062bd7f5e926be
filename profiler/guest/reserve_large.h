// SPDX-License-Identifier: Apache-2.0
//
// Reserves capacity at the start for containers that grow while a window is recorded. A block of 128 KiB or
// more is mapped from the kernel, by large_blocks.h in our library and by glibc elsewhere. Only its touched
// pages are resident, and freeing it returns them. Growth by doubling would instead leave a hole of each size
// in the heap.
#pragma once

#include <cstddef>
#include <new>

namespace rangefinder {

inline constexpr std::size_t kLargeBytes = std::size_t{128} << 10;  ///< glibc's initial mmap threshold

/// Reserves at least one large block in a vector or string, if there is memory for it.
template <typename Items>
void reserve_large(Items& items) {
  constexpr std::size_t kItemBytes = sizeof(typename Items::value_type);
  try {
    items.reserve((kLargeBytes + kItemBytes - 1) / kItemBytes);
  } catch (const std::bad_alloc&) {  // it grows by doubling then
  }
}

}  // namespace rangefinder
