// SPDX-License-Identifier: Apache-2.0
//
// The one T of this process, for threads of the application: in static storage, so that it is there even
// where memory is out; never destroyed, since NVTX and CUPTI may call while static destructors run.
//
// A static of a function is not enough: a signal's handler that interrupts its making, and comes back here,
// waits for its own thread. Here handlers wait until it is made.
#pragma once

#include <atomic>
#include <cstddef>
#include <new>

#include "profiler/guest/signals_blocked.h"

namespace rangefinder {

/// Made by its first caller; any thread.
template <typename T>
[[nodiscard]] T& never_destroyed() noexcept {
  alignas(T) static std::byte storage[sizeof(T)];
  static std::atomic<T*> made{nullptr};
  if (T* const instance = made.load(std::memory_order_acquire); instance != nullptr) [[likely]]
    return *instance;
  const SignalsBlocked blocked;
  static T* const instance = new (storage) T;
  made.store(instance, std::memory_order_release);
  return *instance;
}

}  // namespace rangefinder
