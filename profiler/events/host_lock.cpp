// SPDX-License-Identifier: Apache-2.0
#include "profiler/events/host_lock.h"

#include <atomic>
#include <csignal>

namespace rangefinder {
namespace {

enum Place : std::sig_atomic_t { outside, inside, forking };

// Of the calling thread, and read by what interrupts it: volatile, or it would be kept in a register.
thread_local volatile std::sig_atomic_t t_place = outside;

std::atomic<bool> all_refused{false};

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
    mutex.lock();
    held_ = &mutex;
  }
  entered_ = true;
}

HostLock::~HostLock() {
  if (!entered_) return;
  if (held_ != nullptr) held_->unlock();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  t_place = forking_ ? forking : outside;
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
