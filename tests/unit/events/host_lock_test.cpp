// SPDX-License-Identifier: Apache-2.0
#include "profiler/events/host_lock.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "profiler/events/range_trigger.h"
#include "profiler/events/recorder.h"
#include "profiler/nvtx/open_ranges.h"
#include "profiler/own_thread.h"
#include "tests/catch.h"

using namespace rangefinder;

namespace {

std::function<void()> handler;

// Runs `work` as a signal's handler that interrupts this thread here.
void in_a_signal(std::function<void()> work) {
  handler = std::move(work);
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) { handler(); };
  REQUIRE(sigaction(SIGUSR1, &action, &before) == 0);
  REQUIRE(raise(SIGUSR1) == 0);
  REQUIRE(sigaction(SIGUSR1, &before, nullptr) == 0);
}

bool may_enter(std::mutex& mutex) {
  return static_cast<bool>(HostLock(mutex));
}

}  // namespace

TEST_CASE("what interrupts a section is refused every lock, and gets them when it has ended") {
  std::mutex own, other;
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
  std::mutex mutex;
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

TEST_CASE("a thread that forks has all locks, and enters where its own handlers of fork() come back") {
  std::mutex mutex;
  REQUIRE(may_lock_for_fork());
  mutex.lock();
  set_forking(true);
  {
    const HostLock section(mutex);
    CHECK(section);
    bool entered = true;
    in_a_signal([&] { entered = may_enter(mutex); });
    CHECK_FALSE(entered);
  }
  CHECK_FALSE(mutex.try_lock());  // the section has left it to fork()
  set_forking(false);
  mutex.unlock();

  CHECK(may_enter(mutex));
}

TEST_CASE(
    "tables that are in mid-change answer a signal's handler with what they have for all that is too much") {
  const auto recorder = std::make_unique<Recorder>();
  const std::uint32_t known = recorder->names.intern("known");
  std::uint32_t name = 0, path = 0, domain = 1;
  bool logged = true, added = true, taken = true;
  {
    std::mutex any;
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

TEST_CASE("a handler that forks in the middle of a section hangs neither process") {
  Recorder& own = recorder();
  int status = -1;
  {
    const HostLock section(own.names.mutex());
    in_a_signal([&] {
      const pid_t child = fork();
      if (child == 0) _exit(own.silent && own.names.intern("in the child") == kOtherName ? 4 : 5);
      waitpid(child, &status, 0);
    });
  }

  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 4);
  CHECK_FALSE(own.silent);
  CHECK(own.names.intern("afterwards") != kOtherName);
}

TEST_CASE("threads of ours wait for a lock, and only for a moment once the process ends") {
  static std::mutex mutex;
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

  const pid_t child = fork();  // what ends stays so
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

TEST_CASE("a call that interrupts one of its own thread is dropped and counted, and may look") {
  const auto recorder = std::make_unique<Recorder>();
  bool dropped = false, looks = false;
  {
    const ThreadUse use = recorder->threads.use();
    REQUIRE(use);
    (void)use->push(0, "outer", {});
    in_a_signal([&] {
      const ThreadUse inner = recorder->threads.use();
      dropped = !inner && inner.refused();
      looks = inner.state() != nullptr && inner.state()->stack().path() != 0;
    });
  }

  CHECK(dropped);
  CHECK(looks);
  CHECK(recorder->loss.get(Loss::events_dropped) == 1);
  CHECK(recorder->threads.use()->pop(0) == 0);
  CHECK(recorder->loss.get(Loss::events_dropped) == 1);
}

TEST_CASE("a range whose end is on its way is not reported as open, too") {
  struct Trigger final : RangeTrigger {
    explicit Trigger(ThreadState& of) : state(of) {}
    void on_push(std::uint64_t, std::uint32_t, std::uint32_t, std::int64_t) noexcept override {}
    // Between the event of the end and what it takes off the stack.
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

TEST_CASE("what opens a window in a push may bring events of its own thread") {
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
