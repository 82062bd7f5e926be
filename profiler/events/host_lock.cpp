// SPDX-License-Identifier: Apache-2.0
#include "profiler/events/host_lock.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "profiler/own_thread.h"

namespace rangefinder {
namespace {

enum Place : std::sig_atomic_t { outside, inside, forking };

// Of the calling thread, and read by what interrupts it: volatile, or it would be kept in a register.
thread_local volatile std::sig_atomic_t t_place = outside;

std::atomic<bool> all_refused{false}, process_ends{false};

constexpr auto kPatienceAtTheEnd = std::chrono::milliseconds(50);

}  // namespace

// The place comes before the lock, and after it is given back: a handler never finds a lock that this thread
// has and a place that says otherwise.
HostLock::HostLock(std::mutex& mutex) noexcept {
  const std::sig_atomic_t place = t_place;
  if (place == inside || all_refused.load(std::memory_order_relaxed)) return;
  t_place = inside;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  forking_ = place == forking;
  if (!forking_) {
    if (!lock(mutex)) {
      t_place = place;
      return;
    }
    held_ = &mutex;
  }
  entered_ = true;
}

bool HostLock::lock(std::mutex& mutex) noexcept {
  if (!on_own_thread()) {
    mutex.lock();
    return true;
  }
  auto waited = std::chrono::microseconds(0);
  for (constexpr auto kStep = std::chrono::microseconds(100); !mutex.try_lock(); waited += kStep) {
    if (process_ends.load(std::memory_order_relaxed) && waited > kPatienceAtTheEnd) return false;
    std::this_thread::sleep_for(kStep);
  }
  return true;
}

HostLock::~HostLock() {
  if (!entered_) return;
  if (held_ != nullptr) held_->unlock();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  t_place = forking_ ? forking : outside;
}

void wait_no_longer_for_locks() noexcept {
  process_ends.store(true, std::memory_order_relaxed);
}

bool may_lock_for_fork() noexcept {
  return t_place != inside;
}

void set_forking(bool forking_now) noexcept {
  t_place = forking_now ? forking : outside;
}

void refuse_all_locks() noexcept {
  all_refused.store(true, std::memory_order_relaxed);
}

}  // namespace rangefinder
