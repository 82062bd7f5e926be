// SPDX-License-Identifier: Apache-2.0
#include "profiler/guest/host_lock.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <thread>
#include <utility>

#include "profiler/guest/fork_locks.h"
#include "profiler/guest/own_thread.h"
#include "profiler/guest/slow_path.h"

namespace rangefinder {
namespace {

using std::chrono::steady_clock;

enum Place : std::sig_atomic_t { outside, inside, forking };

// A signal handler on this thread reads them: volatile, so that they are not kept in a register.
thread_local volatile std::sig_atomic_t t_place = outside;
thread_local volatile std::sig_atomic_t t_forks_without = 0;  // forks in progress without locks

thread_local LockWait t_longest_wait;

std::atomic<bool> all_refused{false};

constexpr auto kPatience = std::chrono::seconds(1);
// Shorter for a while after a timeout: the same lock may be requested again and again.
constexpr auto kLittlePatience = std::chrono::milliseconds(10);
constexpr auto kLittlePatienceFor = std::chrono::seconds(2);
constexpr auto kPatienceAtTheEnd = std::chrono::milliseconds(50);

std::atomic<steady_clock::rep> last_timeout{0}, process_ends{0};  // 0: not yet

void set_place(Place place) noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  t_place = place;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

// `since`: when the thread began to wait, or the lock changed hands.
bool waited_too_long(steady_clock::time_point since, steady_clock::time_point now) noexcept {
  const auto at = [](const std::atomic<steady_clock::rep>& time) {
    return steady_clock::time_point(steady_clock::duration(time.load(std::memory_order_relaxed)));
  };
  constexpr steady_clock::time_point kNever{};
  if (on_own_thread())
    return at(process_ends) != kNever && now - std::max(since, at(process_ends)) > kPatienceAtTheEnd;
  const bool little = at(last_timeout) != kNever && now - at(last_timeout) < kLittlePatienceFor;
  return now - since >= (little ? steady_clock::duration(kLittlePatience) : kPatience);
}

void note_wait(steady_clock::time_point from, steady_clock::time_point to) noexcept {
  constexpr std::chrono::nanoseconds kShortest = std::chrono::microseconds(20);
  const std::chrono::nanoseconds longest(t_longest_wait.end_ns - t_longest_wait.start_ns);
  if (to - from < kShortest || to - from <= longest || on_own_thread()) return;
  t_longest_wait = {std::chrono::nanoseconds(from.time_since_epoch()).count(),
                    std::chrono::nanoseconds(to.time_since_epoch()).count()};
}

// Polls: pthread_mutex_timedlock() uses a clock that can be set, and pthread_mutex_clocklock() is unknown to
// ThreadSanitizer.
bool lock_by_polling(HostMutex& mutex) noexcept {
  constexpr int kYields = 50;  // usually enough for one section
  const int error = errno;
  const steady_clock::time_point begin = steady_clock::now();
  steady_clock::time_point since = begin;
  std::uint32_t turns = mutex.turns();
  bool locked = mutex.try_lock();
  for (int i = 0; !locked; ++i) {
    const steady_clock::time_point now = steady_clock::now();
    if (const std::uint32_t turn = mutex.turns(); turn != turns) {
      turns = turn;
      since = now;
    }
    if (waited_too_long(since, now)) {
      if (!on_own_thread()) last_timeout.store(now.time_since_epoch().count(), std::memory_order_relaxed);
      break;
    }
    if (i < kYields) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    locked = mutex.try_lock();
  }
  note_wait(begin, steady_clock::now());
  errno = error;
  return locked;
}

}  // namespace

bool lock_in_time(HostMutex& mutex) noexcept {
  if (mutex.try_lock()) [[likely]]
    return true;
  return slow_path([&mutex] { return lock_by_polling(mutex); });
}

LockWait take_lock_wait() noexcept {
  return std::exchange(t_longest_wait, {});
}

bool waited_for_lock() noexcept {
  return t_longest_wait.end_ns != 0;
}

// The place is set before the lock is taken and reset after its release, so that a signal handler never finds
// this thread holding a lock while the place is `outside`.
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
  steady_clock::rep never = 0;
  process_ends.compare_exchange_strong(never, steady_clock::now().time_since_epoch().count());
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
  // For example, a signal handler forked inside a section: the guarded data stays half changed in the child.
  if (without) all_refused.store(true, std::memory_order_relaxed);
  end_fork(locks);
  return !without;
}

}  // namespace rangefinder
