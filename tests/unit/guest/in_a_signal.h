// SPDX-License-Identifier: Apache-2.0
//
// Runs code in a signal handler that interrupts the test.
#pragma once

#include <signal.h>

#include <functional>
#include <utility>

#include "tests/catch.h"

namespace rangefinder {

/// Runs `work` in a signal handler that interrupts the calling thread.
inline void in_a_signal(std::function<void()> work) {
  static std::function<void()> handler;
  handler = std::move(work);
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) { handler(); };
  REQUIRE(sigaction(SIGUSR1, &action, &before) == 0);
  REQUIRE(raise(SIGUSR1) == 0);
  REQUIRE(sigaction(SIGUSR1, &before, nullptr) == 0);
}

}  // namespace rangefinder
