// SPDX-License-Identifier: Apache-2.0
//
// Hands CUPTI to another tool while a window goes on, and takes it back.
//
//   begin() ─▶ calls in progress end ─▶ counters and records off ─▶ last records ─▶ CUPTI is free: yielded()
//                                                                    └─▶ threads call without a pause:
//                                                                    refused()
//   take_back() ─▶ all on again ─▶ the drain thread has written the gap's line: no longer yielded()
//
// Between begin() or take_back() and its end, advance() must be called every few ms. The steps of the drain
// thread: DrainProgress::Gap. Control thread only, but yielded(); the caller holds Session's `changing_`.
#pragma once

#include <atomic>
#include <string>

#include "profiler/control/control_target.h"
#include "profiler/session/collection.h"
#include "profiler/session/window.h"

namespace rangefinder {

class HandOver {
 public:
  explicit HandOver(Collection& collection) noexcept : collection_(collection) {}

  /// Any thread. CUPTI was given up.
  [[nodiscard]] bool yielded() const noexcept { return yielded_.load(); }
  /// CUPTI is given up, or held again, between two windows.
  void set_yielded(bool yielded) noexcept { yielded_.store(yielded); }

  void add_to(SessionStatus& status) const {
    status.yielded = yielded();
    status.yield_refused = refused_;
  }

  /// Empty: begun, or yielded already. Else why this window needs CUPTI.
  [[nodiscard]] std::string begin(Window& window, const std::string& cause);
  /// Empty: begun. Else why CUPTI cannot be used; the window goes on without it.
  [[nodiscard]] std::string take_back(Window& window);
  /// Begun and not done.
  [[nodiscard]] bool in_progress() const noexcept { return in_progress_; }
  void advance(Window& window);

 private:
  /// Calls of advance() in which callbacks may go off.
  static constexpr int kMaxTries = 100;

  [[nodiscard]] std::string end_gap(Window& window);
  void release(Window& window);

  Collection& collection_;
  std::atomic<bool> yielded_{false};
  bool in_progress_ = false;
  bool refused_ = false;  // by the last begin(); the window goes on, with the gap that the attempt took
  int tries_ = 0;
};

}  // namespace rangefinder
