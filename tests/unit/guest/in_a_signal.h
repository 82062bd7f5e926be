// SPDX-License-Identifier: Apache-2.0
//
// What a signal's handler does in the middle of something else.
#pragma once

#include <signal.h>

#include <functional>
#include <utility>

#include "tests/catch.h"

namespace rangefinder {

/// Runs `work` as a signal's handler that interrupts this thread here.
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
