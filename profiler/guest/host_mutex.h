// SPDX-License-Identifier: Apache-2.0
//
// A mutex that counts its acquisitions: a waiting thread can see whether it changes hands or is stuck with
// one holder.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace rangefinder {

/// Like std::mutex: constant-initialised, trivial to destroy.
class HostMutex {
 public:
  void lock() noexcept {
    mutex_.lock();
    count_turn();
  }
  [[nodiscard]] bool try_lock() noexcept {
    if (!mutex_.try_lock()) return false;
    count_turn();
    return true;
  }
  void unlock() noexcept { mutex_.unlock(); }

  /// Number of acquisitions; wraps around. Any thread.
  [[nodiscard]] std::uint32_t turns() const noexcept { return turns_.load(std::memory_order_relaxed); }

 private:
  void count_turn() noexcept {
    turns_.store(turns_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  std::mutex mutex_;
  std::atomic<std::uint32_t> turns_{0};
};

}  // namespace rangefinder
