// SPDX-License-Identifier: Apache-2.0
//
// The lock that application threads take inside the profiler. Such a thread must never deadlock with itself,
// and must not wait long for another thread.
//
//   outside ── HostLock ──▶ inside     a signal handler that runs now is refused every HostLock
//      │
//      └────── fork() ────▶ forking    the thread has all locks: the application's own pthread_atfork
//                                      handlers run between ours, and enter freely
//
// A holder releases a lock within microseconds, unless it waits for the thread that waits here: for example a
// fork whose next handler wants a lock of the application, or a signal handler that waits for another
// thread. So after one second without a change of holder the waiting thread is refused.
//
// The profiler's own threads take these locks, too, and wait without limit. A lock held when the program ends
// (exit() in a signal handler) is never released: from then on they wait 50 ms only.
//
// A section is short, calls no application code, and takes no second lock: that would be refused, too. If a
// handler forks in the middle of a section, fork() takes no lock, and the child has none of them.
#pragma once

#include <cstdint>

#include "profiler/guest/host_mutex.h"

namespace rangefinder {

class ForkLocks;

class HostLock {
 public:
  explicit HostLock(HostMutex& mutex) noexcept;
  ~HostLock();
  HostLock(const HostLock&) = delete;
  HostLock& operator=(const HostLock&) = delete;

  /// False: refused. The guarded data may be half changed: do not touch it.
  explicit operator bool() const noexcept { return entered_; }

 private:
  HostMutex* held_ = nullptr;
  bool entered_ = false;
  bool forking_ = false;
};

/// Waits for `mutex` as above. False: timed out. The caller must not be inside a section.
[[nodiscard]] bool lock_in_time(HostMutex& mutex) noexcept;

/// The longest wait of the calling thread for a lock since the last call, if it took 20 us or more. Times are
/// those of std::chrono::steady_clock in ns; both 0: none.
struct LockWait {
  std::int64_t start_ns = 0, end_ns = 0;
};
[[nodiscard]] LockWait take_lock_wait() noexcept;
/// Whether take_lock_wait() has one.
[[nodiscard]] bool waited_for_lock() noexcept;

/// The process is about to end.
void wait_no_longer_for_locks() noexcept;

/// Before fork(): takes all locks. Takes none if this thread is inside a section or another fork(), or if one
/// of them times out.
void begin_fork(ForkLocks& locks) noexcept;
/// In the parent.
void end_fork(ForkLocks& locks) noexcept;
/// In the child. False: the fork took no locks, and every HostLock is refused from now on.
[[nodiscard]] bool end_fork_in_child(ForkLocks& locks) noexcept;

}  // namespace rangefinder
