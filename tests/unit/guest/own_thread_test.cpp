// SPDX-License-Identifier: Apache-2.0
#include "profiler/guest/own_thread.h"

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "tests/catch.h"

namespace {

constexpr int kNotYet = -1;
std::atomic<int> policy_of_own_thread{kNotYet};

}  // namespace

TEST_CASE("our own thread does not inherit a real-time priority") {
  const sched_param low{1}, none{0};
  if (sched_setscheduler(0, SCHED_FIFO, &low) != 0) {
    WARN("skipped, real-time priorities are not permitted: " << std::strerror(errno));
    return;
  }
  const bool started = rangefinder::start_own_thread(
      "test", [](void*) { policy_of_own_thread = sched_getscheduler(0); }, nullptr);
  const int policy_of_application = sched_getscheduler(0);
  REQUIRE(sched_setscheduler(0, SCHED_OTHER, &none) == 0);
  REQUIRE(started);
  while (policy_of_own_thread == kNotYet) std::this_thread::sleep_for(std::chrono::milliseconds(1));

  CHECK(policy_of_application == SCHED_FIFO);
  CHECK(policy_of_own_thread == SCHED_OTHER);
}
