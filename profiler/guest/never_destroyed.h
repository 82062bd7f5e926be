// SPDX-License-Identifier: Apache-2.0
//
// The single T of this process, for application threads. It is in static storage, so it needs no free memory.
// It is never destroyed, because NVTX and CUPTI may call while static destructors run.
//
// A function-local static alone is not enough: a signal handler that interrupts its construction and comes
// back here would wait for its own thread. Here signals are blocked during construction.
#pragma once

#include <atomic>
#include <cstddef>
#include <new>

#include "profiler/guest/signals_blocked.h"

namespace rangefinder {

/// Constructed by the first caller; any thread.
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
