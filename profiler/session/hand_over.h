// SPDX-License-Identifier: Apache-2.0
//
// Hands CUPTI to another tool while a window goes on, and takes it back.
//
//   begin() ─▶ calls in progress end ─▶ counters and records off ─▶ last records ─▶ CUPTI is free: yielded()
//                                                                    └─▶ threads call without a pause:
//                                                                    refused()
//   take_back() ─▶ all on again ─▶ the drain thread has written the gap's line: no longer yielded()
//
// Between begin() or take_back() and its end, advance() must be called every few ms. The state is the
// window's: DrainProgress::Gap. Control thread only, but yielded(); the caller holds Session's `changing_`.
#pragma once

#include <string>

#include "profiler/control/control_target.h"
#include "profiler/session/collection.h"
#include "profiler/session/window.h"

namespace rangefinder {

class HandOver {
 public:
  explicit HandOver(Collection& collection) noexcept : collection_(collection) {}

  /// Any thread. This window has given CUPTI up.
  [[nodiscard]] static bool yielded(Window& window) noexcept;
  /// The last begin() failed: the window goes on, with the gap that the attempt took.
  [[nodiscard]] bool refused() const noexcept { return refused_; }

  /// Empty: begun, or yielded already. Else why this window needs CUPTI.
  [[nodiscard]] std::string begin(Window& window, const std::string& cause);
  /// Empty: begun. Else why CUPTI cannot be used; the window goes on without it.
  [[nodiscard]] std::string take_back(Window& window);
  /// Begun and not done.
  [[nodiscard]] static bool in_progress(Window& window) noexcept;
  void advance(Window& window);

 private:
  /// Calls of advance() in which callbacks may go off.
  static constexpr int kMaxTries = 100;

  void release(Window& window);

  Collection& collection_;
  bool refused_ = false;
  int tries_ = 0;
};

}  // namespace rangefinder
