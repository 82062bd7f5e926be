// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous copies of 16 bytes from global to shared memory (cp.async): compute capability 8.0 and up.
//
//   copy_chunk_async() ... commit_copies()      one group
//   wait_for_copies<N>()                        all groups of this thread but the last N have arrived
//
// Hazard: other threads see the bytes only after a barrier that follows the wait.
#pragma once

#include <cuda_runtime.h>

namespace rangefinder::kernels {

/// Where a copy leaves its cache line. L1 pays where neighbours read overlapping bytes.
enum class CachedIn { l1_and_l2, l2 };

/// The address that shared-memory instructions take.
__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// Both sides are 16-byte aligned. If not `is_valid`, writes zeros and reads nothing.
template <CachedIn kCachedIn = CachedIn::l1_and_l2>
__device__ __forceinline__ void copy_chunk_async(unsigned shared, const void* global, bool is_valid) {
  const int bytes = is_valid ? 16 : 0;
  if constexpr (kCachedIn == CachedIn::l2)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "r"(bytes)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "r"(bytes)
                 : "memory");
}

__device__ __forceinline__ void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int kPending>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace rangefinder::kernels
