// SPDX-License-Identifier: Apache-2.0
#include "profiler/guest/slow_path.h"

#include <stdexcept>

#include "tests/catch.h"

using rangefinder::slow_path;

namespace {

int cancel_state() {
  int state = 0, ignored = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  pthread_setcancelstate(state, &ignored);
  return state;
}

}  // namespace

TEST_CASE("a thread cannot be cancelled on the slow path, and can be again after it") {
  const int inside = slow_path([] {
    slow_path([] {});
    return cancel_state();
  });

  CHECK(inside == PTHREAD_CANCEL_DISABLE);
  CHECK(cancel_state() == PTHREAD_CANCEL_ENABLE);
}

TEST_CASE("an exception leaves the slow path") {
  CHECK_THROWS_AS(slow_path([] { throw std::runtime_error("no disk"); }), std::runtime_error);

  CHECK(cancel_state() == PTHREAD_CANCEL_ENABLE);
}
