// SPDX-License-Identifier: Apache-2.0
//
// When the callback of a call that may wait goes off, and when it stays.
#include "profiler/launch/calls_in_progress.h"

#include "profiler/events/recorder.h"
#include "tests/catch.h"

namespace rangefinder {
namespace {

constexpr std::size_t kCall = 3, kOther = 4;
constexpr std::int64_t kRest = CallsInProgress::kRestNs;

CallsInProgress::Calls both() {
  CallsInProgress::Calls calls;
  calls.set(kCall).set(kOther);
  return calls;
}

TEST_CASE("a callback whose call a thread is in stays on until it has left", "[calls_in_progress]") {
  Recorder recorder;
  CallsInProgress calls(recorder.threads);
  ThreadState* const state = recorder.threads.current();
  REQUIRE(state != nullptr);
  CallsInProgress::Calls on = both();
  const auto off = [&](std::size_t call) { on.reset(call); };

  calls.begin(state, kCall, [](std::size_t) {});
  const CallsInProgress::Calls left = calls.switch_off(both(), 0, off);
  const CallsInProgress::Calls during = on;
  calls.end(state);
  const CallsInProgress::Calls last = calls.switch_off(left, kRest, off);

  CHECK((left.count() == 1 && left[kCall]));
  CHECK(during == left);
  CHECK(last.none());
  CHECK(on.none());
}

TEST_CASE("a call that a thread may still be on its way out of stays on, others go off",
          "[calls_in_progress]") {
  Recorder recorder;
  CallsInProgress calls(recorder.threads);
  ThreadState* const state = recorder.threads.current();
  const auto off = [](std::size_t) {};
  calls.begin(state, kCall, [](std::size_t) {});
  calls.end(state);

  const CallsInProgress::Calls first = calls.switch_off(both(), 1000, off);
  CHECK((first.count() == 1 && first[kCall]));
  CHECK(calls.switch_off(first, 1000 + kRest - 1, off) == first);

  SECTION("until it has made no call for a while") {
    CHECK(calls.switch_off(first, 1000 + kRest, off).none());
  }
  SECTION("until it is in another") {
    calls.begin(state, kOther, [](std::size_t) {});
    const CallsInProgress::Calls left = calls.switch_off(both(), 2000, off);
    CHECK((left.count() == 1 && left[kOther]));
    calls.end(state);
  }
  SECTION("not where it made the same call again meanwhile") {
    calls.begin(state, kCall, [](std::size_t) {});
    calls.end(state);
    CHECK(calls.switch_off(first, 1000 + kRest, off) == first);
    CHECK(calls.switch_off(first, 1000 + 2 * kRest, off).none());
  }
}

TEST_CASE("a call that was about to be told of when its callback went off gets it back",
          "[calls_in_progress]") {
  Recorder recorder;
  CallsInProgress calls(recorder.threads);
  ThreadState* const state = recorder.threads.current();
  CallsInProgress::Calls on = both();
  const auto off = [&](std::size_t call) { on.reset(call); };
  CHECK(calls.switch_off(both(), 0, off).none());

  calls.begin(state, kCall, [&](std::size_t call) { on.set(call); });

  CHECK((on.count() == 1 && on[kCall]));
  // It is known to be on, though nobody asked for it: goes off once nobody is in it.
  const CallsInProgress::Calls left = calls.switch_off({}, 0, off);
  CHECK(left[kCall]);
  calls.end(state);
  CHECK(calls.switch_off(left, kRest, off).none());
  CHECK(on.none());
}

TEST_CASE("a thread without a state keeps all of them on", "[calls_in_progress]") {
  Recorder recorder;
  CallsInProgress calls(recorder.threads);
  calls.begin(nullptr, kCall, [](std::size_t) {});
  CHECK(calls.switch_off(both(), 0, [](std::size_t) {}) == both());
  calls.end(nullptr);
  CHECK(calls.switch_off(both(), 0, [](std::size_t) {}).none());
}

}  // namespace
}  // namespace rangefinder
