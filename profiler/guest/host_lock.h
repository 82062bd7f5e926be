// SPDX-License-Identifier: Apache-2.0
//
// The lock that threads of the application take inside of us: such a thread must never wait for itself, and
// for another one not for long.
//
//   outside ── HostLock ──▶ inside     a signal's handler that comes now is refused every HostLock
//      │
//      └────── fork() ────▶ forking    the thread has all locks: handlers of fork() that the application
//                                      registered (pthread_atfork) run between ours, and enter freely
//
// Who has a lock gives it back within microseconds, unless it waits for the very thread that waits here: a
// fork whose next handler wants a lock of the application's, a signal's handler that waits for another
// thread. So nobody waits for more than a second for a lock that stays in one hand, and then is refused.
//
// Threads of ours take these locks, too, and wait until they get them. One that the program's end
// interrupted (exit() in a signal's handler) is never given back: from then on they wait for a moment only.
//
// A section is short, calls nothing of the application's, and holds no second one: that would be refused,
// too. Where a handler forks in the middle of a section, fork() waits for no lock, and the child has none of
// them.
#pragma once

#include "profiler/guest/host_mutex.h"

namespace rangefinder {

class ForkLocks;

class HostLock {
 public:
  explicit HostLock(HostMutex& mutex) noexcept;
  ~HostLock();
  HostLock(const HostLock&) = delete;
  HostLock& operator=(const HostLock&) = delete;

  /// False: refused. What the lock guards may be in mid-change: touch nothing.
  explicit operator bool() const noexcept { return entered_; }

 private:
  HostMutex* held_ = nullptr;
  bool entered_ = false;
  bool forking_ = false;
};

/// Waits for `mutex` as above; false: it did not come in time. For who is not inside of it.
[[nodiscard]] bool lock_in_time(HostMutex& mutex) noexcept;

/// The process is about to end.
void wait_no_longer_for_locks() noexcept;

/// Before fork(): takes all locks; none where this thread is in the middle of a section or of another fork(),
/// or one of them does not come in time.
void begin_fork(ForkLocks& locks) noexcept;
/// In the parent.
void end_fork(ForkLocks& locks) noexcept;
/// In the child. False: it has come without them, and every HostLock is refused from now on.
[[nodiscard]] bool end_fork_in_child(ForkLocks& locks) noexcept;

}  // namespace rangefinder
