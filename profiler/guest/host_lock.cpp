// SPDX-License-Identifier: Apache-2.0
#include "profiler/guest/host_lock.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <thread>

#include "profiler/guest/fork_locks.h"
#include "profiler/guest/own_thread.h"
#include "profiler/guest/scoped_cancel_disable.h"

namespace rangefinder {
namespace {

using std::chrono::steady_clock;

enum Place : std::sig_atomic_t { outside, inside, forking };

// Of the calling thread, and read by what interrupts it: volatile, or they would be kept in a register.
thread_local volatile std::sig_atomic_t t_place = outside;
thread_local volatile std::sig_atomic_t t_forks_without = 0;  // under way, without locks

std::atomic<bool> all_refused{false}, process_ends{false};

constexpr auto kPatience = std::chrono::seconds(1);
// For as long after somebody waited in vain, since what it waited for may be wanted again and again.
constexpr auto kLittlePatience = std::chrono::milliseconds(10);
constexpr auto kWithLittlePatience = std::chrono::seconds(2);
constexpr auto kPatienceAtTheEnd = std::chrono::milliseconds(50);

std::atomic<steady_clock::rep> in_vain{0};  // when somebody waited so; 0: nobody yet

void set_place(Place place) noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  t_place = place;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

steady_clock::duration patience_at(steady_clock::time_point now) noexcept {
  const steady_clock::rep before = in_vain.load(std::memory_order_relaxed);
  const bool little =
      before != 0 && now - steady_clock::time_point(steady_clock::duration(before)) < kWithLittlePatience;
  return little ? steady_clock::duration(kLittlePatience) : kPatience;
}

// By trying: pthread_mutex_timedlock() would wait by a clock that can be set, or is unknown to
// ThreadSanitizer.
template <typename Duration, typename GiveUp>
bool lock_by_trying(HostMutex& mutex, Duration step, const GiveUp& give_up) noexcept {
  constexpr int kYields = 50;  // a section's length, as a rule
  const ScopedCancelDisable no_cancel;
  const int error = errno;
  bool locked = mutex.try_lock();
  for (int i = 0; !locked && !give_up(); ++i) {
    if (i < kYields) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(step);
    }
    locked = mutex.try_lock();
  }
  errno = error;
  return locked;
}

bool lock_on_own_thread(HostMutex& mutex) noexcept {
  steady_clock::time_point ending{};
  return lock_by_trying(mutex, std::chrono::microseconds(100), [&ending] {
    if (!process_ends.load(std::memory_order_relaxed)) return false;
    const steady_clock::time_point now = steady_clock::now();
    if (ending == steady_clock::time_point{}) ending = now;
    return now - ending > kPatienceAtTheEnd;
  });
}

bool lock_on_their_thread(HostMutex& mutex) noexcept {
  steady_clock::time_point since = steady_clock::now();
  std::uint32_t turns = mutex.turns();
  return lock_by_trying(mutex, std::chrono::microseconds(50), [&] {
    const steady_clock::time_point now = steady_clock::now();
    if (const std::uint32_t turn = mutex.turns(); turn != turns) {
      turns = turn;
      since = now;
    }
    if (now - since < patience_at(now)) return false;
    in_vain.store(now.time_since_epoch().count(), std::memory_order_relaxed);
    return true;
  });
}

}  // namespace

bool lock_in_time(HostMutex& mutex) noexcept {
  if (mutex.try_lock()) [[likely]]
    return true;
  return on_own_thread() ? lock_on_own_thread(mutex) : lock_on_their_thread(mutex);
}

// The place comes before the lock, and after it is given back: a handler never finds a lock that this thread
// has and a place that says otherwise.
HostLock::HostLock(HostMutex& mutex) noexcept {
  const auto place = static_cast<Place>(t_place);
  if (place == inside || all_refused.load(std::memory_order_relaxed)) return;
  set_place(inside);
  forking_ = place == forking;
  if (!forking_) {
    if (!lock_in_time(mutex)) {
      set_place(outside);
      return;
    }
    held_ = &mutex;
  }
  entered_ = true;
}

HostLock::~HostLock() {
  if (!entered_) return;
  if (held_ != nullptr) held_->unlock();
  set_place(forking_ ? forking : outside);
}

void wait_no_longer_for_locks() noexcept {
  process_ends.store(true, std::memory_order_relaxed);
}

void begin_fork(ForkLocks& locks) noexcept {
  if (t_place == outside && !all_refused.load(std::memory_order_relaxed)) {
    set_place(inside);
    const bool locked = locks.lock();
    set_place(locked ? forking : outside);
    if (locked) return;
  }
  t_forks_without = t_forks_without + 1;
}

void end_fork(ForkLocks& locks) noexcept {
  if (t_forks_without > 0) {
    t_forks_without = t_forks_without - 1;
    return;
  }
  set_place(inside);
  locks.unlock();
  set_place(outside);
}

bool end_fork_in_child(ForkLocks& locks) noexcept {
  const bool without = t_forks_without > 0;
  // Forked by a signal's handler in the middle of a section, say: what it guards stays as it is now.
  if (without) all_refused.store(true, std::memory_order_relaxed);
  end_fork(locks);
  return !without;
}

}  // namespace rangefinder
