// SPDX-License-Identifier: Apache-2.0
#include "profiler/guest/fork_locks.h"

#include "profiler/guest/host_lock.h"

namespace rangefinder {

void ForkLocks::add(HostMutex& mutex) noexcept {
  const std::size_t count = count_.load(std::memory_order_relaxed);
  if (count == kMax) return;
  mutexes_[count] = &mutex;
  count_.store(count + 1, std::memory_order_release);
}

bool ForkLocks::lock() noexcept {
  const std::size_t count = count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (lock_in_time(*mutexes_[i])) continue;
    unlock_first(i);
    return false;
  }
  locked_ = count;
  return true;
}

void ForkLocks::unlock() noexcept {
  unlock_first(locked_);
}

void ForkLocks::unlock_first(std::size_t count) noexcept {
  while (count > 0) mutexes_[--count]->unlock();
}

}  // namespace rangefinder
