// SPDX-License-Identifier: Apache-2.0
//
// All locks that a fork takes, so that its child finds none in another thread's hands.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "profiler/guest/host_mutex.h"

namespace rangefinder {

class ForkLocks {
 public:
  static constexpr std::size_t kMax = 32;

  /// For ever. One thread at a time, also while others fork. More than kMost: those are left out.
  void add(HostMutex& mutex) noexcept;

  /// Takes all, in their order. False: one did not come in time (lock_in_time()), and none is taken.
  [[nodiscard]] bool lock() noexcept;
  /// What lock() has taken, by this thread or the one that it is the copy of.
  void unlock() noexcept;

 private:
  void unlock_first(std::size_t count) noexcept;

  std::array<HostMutex*, kMax> mutexes_{};
  std::atomic<std::size_t> count_{0};
  std::size_t locked_ = 0;  // by the thread that has them
};

}  // namespace rangefinder
