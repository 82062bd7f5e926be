// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/flush_schedule.h"

#include "tests/catch.h"

using namespace rangefinder;
using std::chrono::milliseconds;

namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kBase = 1'700'000'000'000 * kMs;

}  // namespace

TEST_CASE("records are requested once every interval while events arrive") {
  FlushSchedule schedule(500 * kMs);
  schedule.begin(kBase, false);
  int requests = 0;
  for (std::int64_t ms = 10; ms <= 2000; ms += 10) {
    schedule.note_input(kBase + ms * kMs);
    requests += schedule.begin_request(kBase + ms * kMs, false) ? 1 : 0;
  }

  CHECK(requests == 4);
}

TEST_CASE("the first request of a late window comes after 100 ms, the second an interval later") {
  FlushSchedule schedule(500 * kMs);
  schedule.begin(kBase, true);

  CHECK_FALSE(schedule.begin_request(kBase + 99 * kMs, false));
  CHECK(schedule.begin_request(kBase + 100 * kMs, false));
  CHECK_FALSE(schedule.begin_request(kBase + 599 * kMs, false));
  CHECK(schedule.begin_request(kBase + 600 * kMs, false));
}

TEST_CASE("a request at once begins a new interval") {
  FlushSchedule schedule(500 * kMs);
  schedule.begin(kBase, false);

  CHECK(schedule.begin_request(kBase + 10 * kMs, true));

  CHECK_FALSE(schedule.begin_request(kBase + 509 * kMs, false));
  CHECK(schedule.begin_request(kBase + 510 * kMs, false));
}

TEST_CASE("after a second without events, requests and wake-ups are rare") {
  FlushSchedule schedule(500 * kMs);
  schedule.begin(kBase, false);
  CHECK(schedule.time_to_sleep(kBase + 999 * kMs, {}) == milliseconds(10));
  CHECK(schedule.time_to_sleep(kBase + 1000 * kMs, {}) == milliseconds(100));

  CHECK(schedule.begin_request(kBase + 1000 * kMs, false));
  CHECK_FALSE(schedule.begin_request(kBase + 5999 * kMs, false));
  CHECK(schedule.begin_request(kBase + 6000 * kMs, false));

  schedule.note_input(kBase + 7000 * kMs);
  CHECK(schedule.time_to_sleep(kBase + 7001 * kMs, {}) == milliseconds(10));
  CHECK(schedule.begin_request(kBase + 7001 * kMs, false));
}

TEST_CASE("the records of the last events are requested after an interval, however late the turn") {
  FlushSchedule schedule(500 * kMs);
  schedule.begin(kBase, false);
  schedule.note_input(kBase + 5 * kMs);

  CHECK(schedule.begin_request(kBase + 1020 * kMs, false));

  CHECK_FALSE(schedule.begin_request(kBase + 2020 * kMs, false));
  // Events that were read in the turn of the request came after it.
  schedule.note_input(kBase + 1020 * kMs);
  CHECK(schedule.begin_request(kBase + 2030 * kMs, false));
}

TEST_CASE("the thread wakes up when something else is due, but never spins") {
  FlushSchedule schedule(500 * kMs);
  schedule.begin(kBase, false);

  CHECK(schedule.time_to_sleep(kBase, kBase + 3 * kMs) == milliseconds(4));
  CHECK(schedule.time_to_sleep(kBase, kBase + 900 * kMs) == milliseconds(10));
  CHECK(schedule.time_to_sleep(kBase, kBase - 3 * kMs) == milliseconds(1));
}
