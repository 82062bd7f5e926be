// SPDX-License-Identifier: Apache-2.0
#include "profiler/guest/large_blocks.h"

#include <sys/mman.h>

#include <cstdint>

namespace rangefinder {
namespace {

constexpr std::size_t kPageBytes = 4096;

}  // namespace

void* LargeBlocks::allocate(std::size_t bytes, std::size_t alignment) noexcept {
  const std::size_t whole = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  if (whole < bytes || alignment > kPageBytes) return nullptr;
  for (Block& block : blocks_) {
    const void* free = nullptr;
    if (!block.begin.compare_exchange_strong(free, this, std::memory_order_acquire)) continue;
    void* const memory = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    block.bytes = whole;
    block.begin.store(memory == MAP_FAILED ? nullptr : memory, std::memory_order_release);
    return memory == MAP_FAILED ? nullptr : memory;
  }
  return nullptr;
}

bool LargeBlocks::give_back(const void* memory) noexcept {
  if (reinterpret_cast<std::uintptr_t>(memory) % kPageBytes != 0)
    return false;  // rejects nearly every foreign pointer early
  for (Block& block : blocks_) {
    if (block.begin.load(std::memory_order_acquire) != memory) continue;
    const std::size_t bytes = block.bytes;
    block.begin.store(nullptr, std::memory_order_release);
    munmap(const_cast<void*>(memory), bytes);
    return true;
  }
  return false;
}

}  // namespace rangefinder
