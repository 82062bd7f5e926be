// SPDX-License-Identifier: Apache-2.0
#include "profiler/guest/host_lock.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "profiler/events/range_trigger.h"
#include "profiler/events/recorder.h"
#include "profiler/guest/own_thread.h"
#include "profiler/nvtx/open_ranges.h"
#include "tests/catch.h"
#include "tests/retried.h"
#include "tests/unit/guest/in_a_signal.h"

using namespace rangefinder;

namespace {

bool may_enter(HostMutex& mutex) {
  return static_cast<bool>(HostLock(mutex));
}

}  // namespace

TEST_CASE("a handler that interrupts a section is refused every lock; after the section locks work again") {
  HostMutex own, other;
  bool own_entered = true, other_entered = true;
  {
    const HostLock section(own);
    REQUIRE(section);
    in_a_signal([&] {
      own_entered = may_enter(own);
      other_entered = may_enter(other);
    });
  }

  CHECK_FALSE(own_entered);
  CHECK_FALSE(other_entered);
  CHECK(may_enter(own));
  CHECK(may_enter(other));
}

TEST_CASE("another thread waits for a section to end") {
  HostMutex mutex;
  bool ended = false, waited = false;
  std::thread other;
  {
    const HostLock section(mutex);
    other = std::thread([&] {
      const HostLock late(mutex);
      waited = late && ended;
    });
    ended = true;
  }
  other.join();

  CHECK(waited);
}

TEST_CASE("a long wait for a lock is known until it is taken") {
  HostMutex mutex;
  LockWait wait, next;
  // Again if the other thread came to the lock too late to wait for 20 us.
  for (int tries = 0; wait.end_ns == 0 && tries < 100; ++tries) {
    std::atomic<bool> waits{false};
    mutex.lock();
    std::thread other([&] {
      waits = true;
      (void)may_enter(mutex);
      wait = take_lock_wait();
      next = take_lock_wait();
    });
    while (!waits) std::this_thread::yield();
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
    mutex.unlock();
    other.join();
  }

  CHECK(wait.end_ns - wait.start_ns >= 20'000);
  CHECK(next.end_ns == 0);
  (void)take_lock_wait();  // this thread may have waited for the other one
  (void)may_enter(mutex);
  CHECK(take_lock_wait().end_ns == 0);
}

TEST_CASE("a thread that is cancelled while it waits continues until its next cancellation point") {
  HostMutex mutex;
  mutex.lock();
  bool entered = false;
  std::thread waiting([&] {
    pthread_cancel(pthread_self());
    entered = may_enter(mutex);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  mutex.unlock();
  waiting.join();

  CHECK(entered);
}

TEST_CASE("a thread waits without limit for a lock that changes hands") {
  // The other thread must get a processor within the patience of 1 s.
  CHECK(test::retried_once("a lock that changes hands", [] {
    HostMutex mutex;
    std::atomic<bool> begun{false};
    std::thread others([&] {
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1300);
      while (std::chrono::steady_clock::now() < end) {
        mutex.lock();
        begun = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        mutex.unlock();
      }
    });
    while (!begun) std::this_thread::yield();
    const bool entered = may_enter(mutex);
    others.join();
    return entered;
  }));
}

TEST_CASE("waiting for a stuck lock times out, and the next wait is much shorter") {
  HostMutex mutex;
  const std::lock_guard held(mutex);
  const auto tried_ms = [](HostMutex& stuck) {
    std::chrono::milliseconds took{};
    std::thread([&] {
      const auto begin = std::chrono::steady_clock::now();
      errno = EDOM;
      CHECK_FALSE(may_enter(stuck));
      CHECK(errno == EDOM);
      took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
    }).join();
    return took.count();
  };

  const auto first = tried_ms(mutex);
  CHECK(first >= 1000);
  CHECK(test::retried_once("a stuck lock", [&] {
    HostMutex other;
    const std::lock_guard held_too(other);
    return tried_ms(other) < 1500 && tried_ms(other) < 500;
  }));
}

TEST_CASE("a signal handler that interrupts a table change gets the (other) entries") {
  const auto recorder = std::make_unique<Recorder>();
  const std::uint32_t known = recorder->names.intern("known");
  std::uint32_t name = 0, path = 0, domain = 1;
  bool logged = true, added = true, taken = true;
  {
    HostMutex any;
    const HostLock section(any);
    in_a_signal([&] {
      name = recorder->names.intern("known");
      path = recorder->paths.child({0, known, 0});
      domain = recorder->add_domain(known);
      Event event;
      event.kind = EventKind::thread_name;
      logged = recorder->naming.add(1, event);
      StartedRange range;
      range.key = 77;
      added = open_ranges().add(range);
      taken = open_ranges().take(77, range);
    });
  }

  CHECK(name == kOtherName);
  CHECK(path == kOtherPath);
  CHECK(domain == 0);
  CHECK_FALSE(logged);
  CHECK_FALSE(added);
  CHECK_FALSE(taken);
  CHECK(recorder->loss.get(Loss::names_folded) == 2);  // the text and the domain
  CHECK(recorder->loss.get(Loss::paths_folded) == 1);
  CHECK(recorder->names.intern("known") == known);
  CHECK(recorder->domain_count() == 1);
}

TEST_CASE("our own threads wait for a lock without limit, and only briefly once the process ends") {
  static HostMutex mutex;
  static std::atomic<int> entered;
  const auto try_on_own_thread = [] {
    entered = -1;
    const auto run = [](void*) { entered = may_enter(mutex) ? 1 : 0; };
    if (!start_own_thread("test", run, nullptr)) _exit(9);
  };
  const auto wait = [] {
    while (entered == -1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return entered.load();
  };
  mutex.lock();
  try_on_own_thread();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  CHECK(entered == -1);
  mutex.unlock();
  CHECK(wait() == 1);

  const pid_t child = fork();  // in a child: the flag cannot be reset
  if (child == 0) {
    mutex.lock();
    wait_no_longer_for_locks();
    try_on_own_thread();
    _exit(wait() == 0 ? 4 : 5);
  }
  int status = -1;
  waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 4);
}

TEST_CASE(
    "an event from a handler that interrupts one of the same thread is dropped and counted; it may read the "
    "state") {
  const auto recorder = std::make_unique<Recorder>();
  bool dropped = false, readable = false;
  {
    const ThreadUse use = recorder->threads.use();
    REQUIRE(use);
    (void)use->push(0, "outer", {});
    in_a_signal([&] {
      const ThreadUse inner = recorder->threads.use();
      dropped = !inner && inner.refused();
      readable = inner.state() != nullptr && inner.state()->stack().path() != 0;
    });
  }

  CHECK(dropped);
  CHECK(readable);
  CHECK(recorder->loss.get(Loss::events_dropped) == 1);
  CHECK(recorder->threads.use()->pop(0) == 0);
  CHECK(recorder->loss.get(Loss::events_dropped) == 1);
}

TEST_CASE("a range that is being closed is not also reported as open") {
  struct Trigger final : RangeTrigger {
    explicit Trigger(ThreadState& of) : state(of) {}
    void on_push(std::uint64_t, std::uint32_t, std::uint32_t, std::int64_t) noexcept override {}
    // Called after the end event was emitted, before the range is popped from the stack.
    void on_pop(std::uint64_t range, std::int64_t now_ns) noexcept override {
      popped = range;
      unclosed = state.close_all(now_ns);
    }
    ThreadState& state;
    std::uint64_t popped = 0;
    std::size_t unclosed = 0;
  };
  const auto recorder = std::make_unique<Recorder>();
  ThreadState& state = *recorder->threads.current();
  Trigger trigger(state);
  recorder->trigger = &trigger;
  (void)state.push(0, "outer", {});
  const std::uint64_t outer = state.stack().range();
  (void)state.push(0, "inner", {});
  const std::uint64_t inner = state.stack().range();
  CHECK(state.pop(0) == 1);
  recorder->trigger = nullptr;

  CHECK(trigger.popped == inner);
  CHECK(trigger.unclosed == 1);
  std::vector<std::uint64_t> ids;
  state.ring().drain([&ids](const Event& event) { ids.push_back(event.range); });
  CHECK(ids == std::vector{inner, outer});
}

TEST_CASE("a trigger that opens a window in a push may emit events of its own thread") {
  struct Trigger final : RangeTrigger {
    explicit Trigger(Recorder& of) : recorder(of) {}
    void on_push(std::uint64_t, std::uint32_t, std::uint32_t, std::int64_t) noexcept override {
      enters += recorder.threads.use() ? 1 : 0;
    }
    void on_pop(std::uint64_t, std::int64_t) noexcept override { enters += recorder.threads.use() ? 1 : 0; }
    Recorder& recorder;
    int enters = 0;
  };
  const auto recorder = std::make_unique<Recorder>();
  Trigger trigger(*recorder);
  recorder->trigger = &trigger;
  {
    const ThreadUse use = recorder->threads.use();
    (void)use->push(0, "window", {});
    (void)use->pop(0);
    CHECK(trigger.enters == 2);
    CHECK_FALSE(recorder->threads.use());  // in use again
  }
  recorder->trigger = nullptr;

  CHECK(recorder->threads.use());
}
