// SPDX-License-Identifier: Apache-2.0
//
// Which work has not ended, with a fake driver.
#include "profiler/counters/exact/work_in_flight.h"

#include <cstdint>
#include <set>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

constexpr std::int64_t kNoPatience = 0;
constexpr std::int64_t kSomeNs = 5'000'000;

std::set<CUstream> busy;  // streams that are not idle
int queries = 0;
int busy_for = 0;  // queries until everything is idle; 0: `busy` decides

CUresult query(CUstream stream) {
  ++queries;
  if (busy_for != 0 && --busy_for == 0) busy.clear();
  return busy.count(stream) != 0 ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

CUresult failing_query(CUstream) {
  return CUDA_ERROR_ILLEGAL_ADDRESS;
}

CUstream stream(std::uintptr_t number) {
  return reinterpret_cast<CUstream>(number);
}

WorkInFlight fresh() {
  busy.clear();
  queries = busy_for = 0;
  return WorkInFlight(&query);
}

}  // namespace

TEST_CASE("without launches it is idle, and no stream is queried") {
  WorkInFlight work = fresh();

  CHECK(work.idle());
  CHECK(work.wait(kNoPatience));
  CHECK(queries == 0);
}

TEST_CASE("only streams that had work since they were idle are queried") {
  WorkInFlight work = fresh();
  busy = {stream(1)};
  REQUIRE(work.add(stream(1), 7, false));
  REQUIRE(work.add(stream(2), 8, false));

  CHECK_FALSE(work.idle());
  queries = 0;
  CHECK_FALSE(work.idle());
  CHECK(queries == 1);  // stream 2 has ended

  busy.clear();
  CHECK(work.idle());
  queries = 0;
  CHECK(work.idle());
  CHECK(queries == 0);
}

TEST_CASE("waiting ends with the work or after the timeout") {
  WorkInFlight work = fresh();
  busy = {stream(1)};
  REQUIRE(work.add(stream(1), 7, false));

  CHECK_FALSE(work.wait(kSomeNs));
  busy_for = 100;
  CHECK(work.wait(std::int64_t{60'000'000'000}));
}

TEST_CASE("the unfinished kernel is the last one of a stream that is not idle") {
  WorkInFlight work = fresh();
  busy = {stream(2)};
  REQUIRE(work.add(stream(1), 5, false));
  REQUIRE(work.add(stream(2), 6, false));
  REQUIRE(work.add(stream(2), 7, false));

  CHECK_FALSE(work.idle());

  CHECK(work.unfinished() == 7);
  CHECK_FALSE(work.has_waiter());
}

TEST_CASE("known waiters and copies are not reported as unfinished kernels") {
  WorkInFlight work = fresh();
  busy = {stream(1), stream(2)};
  REQUIRE(work.add(stream(1), 5, true));
  REQUIRE(work.add(stream(2), 0, false));

  CHECK_FALSE(work.idle());

  CHECK(work.has_waiter());
  CHECK(work.unfinished() == 0);
}

TEST_CASE("a stream counts as waiting until it is idle") {
  WorkInFlight work = fresh();
  busy = {stream(1)};
  REQUIRE(work.add(stream(1), 5, true));
  REQUIRE(work.add(stream(1), 6, false));

  CHECK(work.has_waiter());
  busy.clear();
  CHECK(work.idle());
  CHECK_FALSE(work.has_waiter());
}

TEST_CASE("a destroyed stream is not queried") {
  WorkInFlight work = fresh();
  busy = {stream(1)};
  REQUIRE(work.add(stream(1), 5, false));
  REQUIRE(work.add(stream(2), 6, false));

  work.forget(stream(1));

  CHECK(work.idle());
  CHECK(queries == 1);
}

TEST_CASE("too many busy streams are refused, idle ones make room") {
  WorkInFlight work = fresh();
  for (std::uintptr_t i = 1; i <= WorkInFlight::kMaxStreams; ++i) {
    busy.insert(stream(i));
    REQUIRE(work.add(stream(i), 1, false));
  }

  CHECK_FALSE(work.add(stream(1000), 1, false));
  CHECK(work.add(stream(1), 2, false));  // already tracked
  busy.erase(stream(9));
  CHECK(work.add(stream(1000), 1, false));
}

TEST_CASE("a driver error counts as idle, so that nothing waits") {
  WorkInFlight broken(&failing_query);
  REQUIRE(broken.add(stream(1), 5, false));
  CHECK(broken.wait(kNoPatience));

  WorkInFlight without_driver(nullptr);
  REQUIRE(without_driver.add(stream(1), 5, false));
  CHECK(without_driver.idle());
}
