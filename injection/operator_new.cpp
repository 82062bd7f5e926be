// SPDX-License-Identifier: Apache-2.0
//
// This library's own operator new. It maps large blocks from the kernel (large_blocks.h), and uses a pool if
// malloc fails (emergency_pool.h). While we call malloc on an application thread, its signal handlers are
// blocked there (signals_blocked.h).
//
// The version script does not export it: it does not replace the application's operator new, and we do not
// use the application's. The other forms (arrays, nothrow) call these.
#include <cstdlib>
#include <exception>
#include <new>

#include "profiler/guest/emergency_pool.h"
#include "profiler/guest/large_blocks.h"
#include "profiler/guest/reserve_large.h"
#include "profiler/guest/signals_blocked.h"

namespace {

constinit rangefinder::LargeBlocks large_blocks;
constinit rangefinder::EmergencyPool emergency_pool;

void* large_block(std::size_t bytes, std::size_t alignment) noexcept {
  return bytes < rangefinder::LargeBlocks::kMinBytes ? nullptr : large_blocks.allocate(bytes, alignment);
}

// Not for large blocks: one would use up the pool for code that cannot handle bad_alloc.
void* from_pool(std::size_t bytes, std::size_t alignment) {
  const bool large = bytes >= rangefinder::kLargeBytes;
  void* const memory =
      large ? nullptr : emergency_pool.allocate(bytes, alignment, std::uncaught_exceptions() != 0);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* from_heap(std::size_t bytes) noexcept {
  const rangefinder::SignalsBlocked blocked;
  return std::malloc(bytes);
}

void* from_heap(std::size_t bytes, std::size_t alignment) noexcept {
  const rangefinder::SignalsBlocked blocked;
  return std::aligned_alloc(alignment, bytes);
}

void release(void* memory) noexcept {
  if (memory == nullptr || large_blocks.give_back(memory) || emergency_pool.give_back(memory)) return;
  const rangefinder::SignalsBlocked blocked;
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (void* const large = large_block(bytes, alignof(std::max_align_t)); large != nullptr) return large;
  void* const memory = from_heap(bytes == 0 ? 1 : bytes);
  return memory != nullptr ? memory : from_pool(bytes == 0 ? 1 : bytes, alignof(std::max_align_t));
}

void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto wanted = static_cast<std::size_t>(alignment);
  const std::size_t whole = (bytes + wanted - 1) / wanted * wanted;  // required by aligned_alloc()
  if (whole < bytes) throw std::bad_alloc();
  if (void* const large = large_block(whole, wanted); large != nullptr) return large;
  void* const memory = from_heap(whole == 0 ? wanted : whole, wanted);
  return memory != nullptr ? memory : from_pool(whole == 0 ? wanted : whole, wanted);
}

void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}
