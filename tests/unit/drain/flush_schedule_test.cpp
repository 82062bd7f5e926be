// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/flush_schedule.h"

#include <vector>

#include "tests/catch.h"

using namespace rangefinder;
using std::chrono::milliseconds;

namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kBase = 1'700'000'000'000 * kMs;

}  // namespace

TEST_CASE("records are requested once every interval while events arrive") {
  FlushSchedule schedule(500 * kMs);
  schedule.begin(kBase);
  std::vector<std::int64_t> requests;
  for (std::int64_t ms = 300; ms <= 3000; ms += 10) {
    schedule.note_input(kBase + ms * kMs);
    if (schedule.begin_request(kBase + ms * kMs, false)) requests.push_back(ms);
  }

  // 20, 40, 80, 160, 320 ms after each other, then the interval.
  CHECK(requests == std::vector<std::int64_t>{320, 360, 440, 600, 920, 1420, 1920, 2420, 2920});
}

TEST_CASE("before the first event the interval is the usual one") {
  FlushSchedule schedule(500 * kMs);
  schedule.begin(kBase);

  CHECK_FALSE(schedule.begin_request(kBase + 499 * kMs, false));
  CHECK(schedule.begin_request(kBase + 500 * kMs, false));
}

TEST_CASE("an interval below 20 ms is kept") {
  FlushSchedule schedule(10 * kMs);
  schedule.begin(kBase);
  schedule.note_input(kBase);

  CHECK(schedule.begin_request(kBase + 10 * kMs, false));
  CHECK(schedule.begin_request(kBase + 20 * kMs, false));
}

TEST_CASE("a request at once begins a new interval") {
  FlushSchedule schedule(500 * kMs);
  schedule.begin(kBase);

  CHECK(schedule.begin_request(kBase + 10 * kMs, true));

  CHECK_FALSE(schedule.begin_request(kBase + 509 * kMs, false));
  CHECK(schedule.begin_request(kBase + 510 * kMs, false));
}

TEST_CASE("after a second without events, requests and wake-ups are rare") {
  FlushSchedule schedule(500 * kMs);
  schedule.begin(kBase);
  CHECK(schedule.time_to_sleep(kBase + 999 * kMs, {}) == milliseconds(10));
  CHECK(schedule.time_to_sleep(kBase + 1000 * kMs, {}) == milliseconds(100));

  CHECK(schedule.begin_request(kBase + 1000 * kMs, false));
  CHECK_FALSE(schedule.begin_request(kBase + 5999 * kMs, false));
  CHECK(schedule.begin_request(kBase + 6000 * kMs, false));

  schedule.note_input(kBase + 7000 * kMs);
  CHECK(schedule.time_to_sleep(kBase + 7001 * kMs, {}) == milliseconds(10));
  CHECK_FALSE(schedule.begin_request(kBase + 7019 * kMs, false));
  CHECK(schedule.begin_request(kBase + 7020 * kMs, false));
}

TEST_CASE("the records of the last events are requested after an interval, however late the turn") {
  FlushSchedule schedule(500 * kMs);
  schedule.begin(kBase);
  schedule.note_input(kBase + 5 * kMs);

  CHECK(schedule.begin_request(kBase + 1020 * kMs, false));

  CHECK_FALSE(schedule.begin_request(kBase + 2020 * kMs, false));
  // Events that were read in the turn of the request came after it.
  schedule.note_input(kBase + 1020 * kMs);
  CHECK(schedule.begin_request(kBase + 2030 * kMs, false));
}

TEST_CASE("the thread wakes up when something else is due, but never spins") {
  FlushSchedule schedule(500 * kMs);
  schedule.begin(kBase);

  CHECK(schedule.time_to_sleep(kBase, kBase + 3 * kMs) == milliseconds(4));
  CHECK(schedule.time_to_sleep(kBase, kBase + 900 * kMs) == milliseconds(10));
  CHECK(schedule.time_to_sleep(kBase, kBase - 3 * kMs) == milliseconds(1));
}
