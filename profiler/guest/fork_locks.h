// SPDX-License-Identifier: Apache-2.0
//
// The locks that a fork takes, so that none is held by another thread in the child.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "profiler/guest/host_mutex.h"

namespace rangefinder {

class ForkLocks {
 public:
  static constexpr std::size_t kMax = 32;

  /// Registers `mutex`; there is no removal. One thread at a time, also while others fork. Ignored when kMax
  /// are registered.
  void add(HostMutex& mutex) noexcept;

  /// Takes all, in order of registration. False: lock_in_time() failed for one, and none is taken.
  [[nodiscard]] bool lock() noexcept;
  /// Releases what lock() took, in this thread or, after fork(), in the parent's thread.
  void unlock() noexcept;

 private:
  void unlock_first(std::size_t count) noexcept;

  std::array<HostMutex*, kMax> mutexes_{};
  std::atomic<std::size_t> count_{0};
  std::size_t locked_ = 0;  // accessed by the thread that holds the locks
};

}  // namespace rangefinder
