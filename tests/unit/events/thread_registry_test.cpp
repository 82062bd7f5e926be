// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <memory>
#include <thread>
#include <vector>

#include "profiler/events/recorder.h"
#include "tests/catch.h"
#include "tests/retried.h"

using rangefinder::Event;
using rangefinder::kOtherName;
using rangefinder::Loss;
using rangefinder::Recorder;
using rangefinder::ThreadRegistry;
using rangefinder::ThreadState;

namespace {

std::size_t states_of(Recorder& recorder) {
  std::size_t count = 0;
  recorder.threads.for_each([&count](ThreadState&) { ++count; });
  return count;
}

std::size_t drain_all(Recorder& recorder) {
  std::size_t events = 0;
  recorder.threads.for_each(
      [&events](ThreadState& state) { events += state.ring().drain([](const Event&) {}); });
  return events;
}

// Exit status of a child that runs `check`.
template <typename Check>
int in_child(const Check& check) {
  const pid_t child = fork();
  if (child == 0) _exit(check());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a thread has one state, with its kernel id") {
  const auto recorder = std::make_unique<Recorder>();

  ThreadState* const state = recorder->threads.current();

  REQUIRE(state != nullptr);
  CHECK(recorder->threads.current() == state);
  CHECK(state->thread() == static_cast<std::uint32_t>(syscall(SYS_gettid)));
}

TEST_CASE("two registries do not take each other's states") {
  const auto first = std::make_unique<Recorder>(), second = std::make_unique<Recorder>();

  ThreadState* const of_first = first->threads.current();
  ThreadState* const of_second = second->threads.current();

  CHECK(of_first != of_second);
  CHECK(first->threads.current() == of_first);
  CHECK(states_of(*first) == 1);
}

TEST_CASE("a thousand short threads share one state when the drain thread keeps up") {
  const auto recorder = std::make_unique<Recorder>();
  std::size_t events = 0;
  for (int i = 0; i < 1000; ++i) {
    std::thread([&recorder] {
      (void)recorder->threads.current()->push(0, "short", {});
      (void)recorder->threads.current()->pop(0);
    }).join();
    events += drain_all(*recorder);
    recorder->threads.recycle();
  }

  CHECK(states_of(*recorder) == 1);
  CHECK(events == 1000);
  CHECK(recorder->loss.get(Loss::threads_without_ring) == 0);
}

TEST_CASE("a state whose ring still has events is not reused") {
  const auto recorder = std::make_unique<Recorder>();
  std::thread([&recorder] {
    (void)recorder->threads.current()->push(0, "unread", {});
    (void)recorder->threads.current()->pop(0);
  }).join();

  recorder->threads.recycle();
  (void)recorder->threads.current();

  CHECK(states_of(*recorder) == 2);
  CHECK(drain_all(*recorder) == 1);
}

TEST_CASE("a new owner has no open ranges; the old owner's open range is counted and recorded as unclosed") {
  const auto recorder = std::make_unique<Recorder>();
  std::thread([&recorder] { (void)recorder->threads.current()->push(0, "left open", {}); }).join();
  std::vector<Event> seen;
  recorder->threads.for_each([&seen](ThreadState& state) {
    state.ring().drain([&seen](const Event& event) { seen.push_back(event); });
  });
  recorder->threads.recycle();

  ThreadState* const state = recorder->threads.current();

  CHECK(states_of(*recorder) == 1);
  CHECK(state->stack().path() == 0);
  CHECK(state->stack().depth(0) == 0);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].flags == rangefinder::kRangeUnclosed);
  CHECK(seen[0].end_ns == rangefinder::kNoTime);
  CHECK(recorder->loss.get(Loss::nvtx_unclosed) == 1);
}

TEST_CASE("threads beyond the limit get no state and are counted once each") {
  // All threads ask at one time. One that does not get the registry's lock in time has no state either.
  CHECK(rangefinder::test::retried_once("threads beyond the limit", [] {
    const auto recorder = std::make_unique<Recorder>();
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t arrived = 0, without = 0;
    constexpr std::size_t kThreads = ThreadRegistry::kMaxThreads + 3;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        const bool none = recorder->threads.current() == nullptr;
        (void)recorder->threads.current();
        std::unique_lock lock(mutex);
        without += none;
        ++arrived;
        changed.notify_all();
        changed.wait(lock, [&] { return arrived == kThreads; });
      });
    }
    for (std::thread& thread : threads) thread.join();
    return without == 3 && recorder->loss.get(Loss::threads_without_ring) == 3 &&
           states_of(*recorder) == ThreadRegistry::kMaxThreads;
  }));
}

TEST_CASE("a destructor that runs after ours gets no state") {
  static Recorder* recorder = nullptr;
  static bool had_state = true;
  const auto owned = std::make_unique<Recorder>();
  recorder = owned.get();
  pthread_key_t later{};
  // Destructors of keys run in the order of their creation.
  REQUIRE(pthread_key_create(&later, [](void*) { had_state = recorder->threads.current() != nullptr; }) == 0);

  std::thread([later] {
    (void)recorder->threads.current()->push(0, "x", {});
    pthread_setspecific(later, recorder);
  }).join();
  pthread_key_delete(later);

  CHECK_FALSE(had_state);
}

TEST_CASE("domains with the same name are one domain; those beyond the table share one") {
  const auto recorder = std::make_unique<Recorder>();
  const std::uint32_t first = recorder->add_domain(recorder->names.intern("first"));

  CHECK(first == 1);
  CHECK(recorder->add_domain(recorder->names.intern("first")) == first);
  CHECK(recorder->names.text(recorder->domain_name(first)) == "first");
  for (int i = 0; i < 1100; ++i) (void)recorder->add_domain(recorder->names.intern(std::to_string(i)));
  CHECK(recorder->domain_count() == Recorder::kMaxDomains);
  CHECK(recorder->domain_name(Recorder::kMaxDomains - 1) == kOtherName);
  CHECK(recorder->loss.get(Loss::names_folded) == 1100 - 1021);
}

TEST_CASE("a child forked while a session records is silent, and its parent is not") {
  Recorder& recorder = rangefinder::recorder();
  (void)recorder.threads.current()->push(0, "parent", {});
  recorder.recording = true;

  const int child =
      in_child([&recorder] { return recorder.silent && recorder.threads.current() == nullptr ? 0 : 1; });
  recorder.recording = false;

  CHECK(child == 0);
  CHECK_FALSE(recorder.silent);
  CHECK(recorder.threads.current()->pop(0) == 0);
}

TEST_CASE("a child forked while nothing is recorded starts with empty states and free locks") {
  Recorder& recorder = rangefinder::recorder();
  (void)recorder.threads.current()->push(0, "parent", {});

  const int child = in_child([&recorder] {
    ThreadState* const state = recorder.threads.current();
    if (state == nullptr || state->stack().path() != 0 || !state->ring().empty()) return 1;
    if (state->thread() != static_cast<std::uint32_t>(getpid())) return 2;
    if (state->push(0, "never seen before", {}) != 0 || state->pop(0) != 0) return 3;
    (void)recorder.add_domain(recorder.names.intern("domain of the child"));
    return state->ring().drain([](const Event&) {}) == 1 ? 0 : 4;
  });

  CHECK(child == 0);
  CHECK(recorder.threads.current()->pop(0) == 0);
}

TEST_CASE("a half-full ring wakes the sleeping drain thread") {
  const auto recorder = std::make_unique<Recorder>();
  std::size_t drained = 0;
  ThreadState* const state = recorder->threads.current();
  std::thread drain([&] {
    recorder->sleep_until_woken(std::chrono::hours(1));
    drained = drain_all(*recorder);
  });
  for (std::size_t i = 0; i < rangefinder::EventRing::kSlots / 2; ++i) state->emit({});

  drain.join();

  CHECK(drained == rangefinder::EventRing::kSlots / 2);
  CHECK(recorder->wake == 0);
}
