// SPDX-License-Identifier: Apache-2.0
#include "profiler/guest/emergency_pool.h"

#include <functional>

namespace rangefinder {
namespace {

constexpr std::uint64_t kOneUse = std::uint64_t{1} << 32;
constexpr std::size_t kMaxAlignment = 4096;

}  // namespace

void* EmergencyPool::allocate(std::size_t bytes, std::size_t alignment, bool unwinding) noexcept {
  const std::size_t limit = unwinding ? kBytes : kBytes / 2;
  if (alignment > kMaxAlignment || bytes > limit) return nullptr;
  std::uint64_t state = state_.load(std::memory_order_relaxed);
  for (;;) {
    const std::size_t begin = ((state % kOneUse) + alignment - 1) / alignment * alignment;
    if (begin + bytes > limit) return nullptr;
    const std::uint64_t next = (state / kOneUse + 1) * kOneUse + begin + bytes;
    if (state_.compare_exchange_weak(state, next, std::memory_order_acquire)) return bytes_ + begin;
  }
}

bool EmergencyPool::give_back(const void* memory) noexcept {
  const std::less<> less;
  if (less(memory, bytes_) || !less(memory, bytes_ + kBytes)) return false;
  std::uint64_t state = state_.load(std::memory_order_relaxed);
  std::uint64_t next = 0;
  do {
    next = state / kOneUse == 1 ? 0 : state - kOneUse;
  } while (!state_.compare_exchange_weak(state, next, std::memory_order_release));
  return true;
}

}  // namespace rangefinder
