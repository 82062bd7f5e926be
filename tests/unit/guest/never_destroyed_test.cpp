// SPDX-License-Identifier: Apache-2.0
#include "profiler/guest/never_destroyed.h"

#include <signal.h>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

// Raises a signal during its construction. The handler requests the same object.
struct Interrupted {
  Interrupted() {
    raise(SIGUSR1);
    value = 7;
  }
  int value = 0;
};

volatile sig_atomic_t seen_by_handler = -1;

}  // namespace

TEST_CASE("a handler that runs during construction finds the object constructed") {
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) { seen_by_handler = never_destroyed<Interrupted>().value; };
  REQUIRE(sigaction(SIGUSR1, &action, &before) == 0);

  CHECK(never_destroyed<Interrupted>().value == 7);
  CHECK(seen_by_handler == 7);
  CHECK(&never_destroyed<Interrupted>() == &never_destroyed<Interrupted>());
  REQUIRE(sigaction(SIGUSR1, &before, nullptr) == 0);
}
