// SPDX-License-Identifier: Apache-2.0
//
// When the callback of a blocking call may be disabled, and when it must stay enabled.
#include "profiler/launch/calls_in_progress.h"

#include "profiler/events/recorder.h"
#include "tests/catch.h"

namespace rangefinder {
namespace {

constexpr std::size_t kCall = 3, kOther = 4;
constexpr std::int64_t kQuiet = CallsInProgress::kQuietNs;

CallsInProgress::Calls both() {
  CallsInProgress::Calls calls;
  calls.set(kCall).set(kOther);
  return calls;
}

TEST_CASE("a callback stays enabled while a thread is in its call", "[calls_in_progress]") {
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
  const CallsInProgress::Calls last = calls.switch_off(left, kQuiet, off);

  CHECK((left.count() == 1 && left[kCall]));
  CHECK(during == left);
  CHECK(last.none());
  CHECK(on.none());
}

TEST_CASE("a callback stays enabled while a thread may still be leaving its call, others are disabled",
          "[calls_in_progress]") {
  Recorder recorder;
  CallsInProgress calls(recorder.threads);
  ThreadState* const state = recorder.threads.current();
  const auto off = [](std::size_t) {};
  calls.begin(state, kCall, [](std::size_t) {});
  calls.end(state);

  const CallsInProgress::Calls first = calls.switch_off(both(), 1000, off);
  CHECK((first.count() == 1 && first[kCall]));
  CHECK(calls.switch_off(first, 1000 + kQuiet - 1, off) == first);

  SECTION("until the thread has made no call for a while") {
    CHECK(calls.switch_off(first, 1000 + kQuiet, off).none());
  }
  SECTION("until the thread is in another call") {
    calls.begin(state, kOther, [](std::size_t) {});
    const CallsInProgress::Calls left = calls.switch_off(both(), 2000, off);
    CHECK((left.count() == 1 && left[kOther]));
    calls.end(state);
  }
  SECTION("not if it made the same call again meanwhile") {
    calls.begin(state, kCall, [](std::size_t) {});
    calls.end(state);
    CHECK(calls.switch_off(first, 1000 + kQuiet, off) == first);
    CHECK(calls.switch_off(first, 1000 + 2 * kQuiet, off).none());
  }
}

TEST_CASE("a callback that was disabled while CUPTI entered it is enabled again", "[calls_in_progress]") {
  Recorder recorder;
  CallsInProgress calls(recorder.threads);
  ThreadState* const state = recorder.threads.current();
  CallsInProgress::Calls on = both();
  const auto off = [&](std::size_t call) { on.reset(call); };
  CHECK(calls.switch_off(both(), 0, off).none());

  calls.begin(state, kCall, [&](std::size_t call) { on.set(call); });

  CHECK((on.count() == 1 && on[kCall]));
  // Tracked as enabled although not requested: it is disabled once no thread is in the call.
  const CallsInProgress::Calls left = calls.switch_off({}, 0, off);
  CHECK(left[kCall]);
  calls.end(state);
  CHECK(calls.switch_off(left, kQuiet, off).none());
  CHECK(on.none());
}

TEST_CASE("a thread without a state keeps all callbacks enabled", "[calls_in_progress]") {
  Recorder recorder;
  CallsInProgress calls(recorder.threads);
  calls.begin(nullptr, kCall, [](std::size_t) {});
  CHECK(calls.switch_off(both(), 0, [](std::size_t) {}) == both());
  calls.end(nullptr);
  CHECK(calls.switch_off(both(), 0, [](std::size_t) {}).none());
}

}  // namespace
}  // namespace rangefinder
