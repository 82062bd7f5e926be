// SPDX-License-Identifier: Apache-2.0
//
// The lock that threads of the application take inside of us: such a thread must never wait for itself.
//
//   outside ── HostLock ──▶ inside     a signal's handler that comes now is refused every HostLock
//      │
//      └────── fork() ────▶ forking    the thread has all locks: handlers of fork() that the application
//                                      registered (pthread_atfork) run between ours, and enter freely
//
// Threads of ours take these locks, too. One that the program's end interrupted (exit() in a signal's
// handler) is never given back: so from then on they wait for a moment only.
//
// A section is short, calls nothing of the application's, and holds no second one: that would be refused,
// too. Where a handler forks in the middle of a section, fork() waits for no lock, and the child has none of
// them.
#pragma once

#include <mutex>

namespace rangefinder {

class HostLock {
 public:
  explicit HostLock(std::mutex& mutex) noexcept;
  ~HostLock();
  HostLock(const HostLock&) = delete;
  HostLock& operator=(const HostLock&) = delete;

  /// False: refused. What the lock guards may be in mid-change: touch nothing.
  explicit operator bool() const noexcept { return entered_; }

 private:
  [[nodiscard]] static bool lock(std::mutex& mutex) noexcept;

  std::mutex* held_ = nullptr;
  bool entered_ = false;
  bool forking_ = false;
};

/// The process is about to end.
void wait_no_longer_for_locks() noexcept;

/// Before fork(): whether to take all locks. False: this thread is in the middle of a section.
[[nodiscard]] bool may_lock_for_fork() noexcept;
/// With all of them taken, until they are given back.
void set_forking(bool forking) noexcept;
/// In a child whose thread is in the middle of a section: every HostLock is refused from now on.
void refuse_all_locks() noexcept;

}  // namespace rangefinder
