// SPDX-License-Identifier: Apache-2.0
#include "profiler/session/hand_over.h"

namespace rangefinder {

using Gap = DrainLoop::Gap;

bool HandOver::yielded(Window& window) noexcept {
  const Gap gap = window.drain().gap();
  return gap == Gap::free || gap == Gap::over;
}

bool HandOver::in_progress(Window& window) noexcept {
  const Gap gap = window.drain().gap();
  return gap != Gap::none && gap != Gap::free && !window.ended();
}

std::string HandOver::begin(Window& window, const std::string& cause) {
  if (yielded(window) || in_progress(window)) return {};
  if (!collection_.held()) return "this window does not use CUPTI";
  refused_ = false;
  tries_ = 0;
  window.drain().request_gap(cause);
  return {};
}

std::string HandOver::take_back(Window& window) {
  if (in_progress(window)) return "CUPTI is changing hands";
  std::string error;
  if (collection_.begin(window.counters(), collection_.requested(), true, error))
    window.drain().move_gap(Gap::over);
  return error;
}

// Callbacks that go off while a thread is in the call would give all its later launches one correlation id
// (calls_in_progress.h), also those after the gap. So CUPTI is kept where threads call without a pause.
void HandOver::release(Window& window) {
  if (!collection_.end()) {
    if (++tries_ < kMaxTries) return;
    std::string error;
    if (collection_.begin(window.counters(), collection_.requested(), true, error)) {
      refused_ = true;
      return window.drain().move_gap(Gap::kept);
    }
  }
  collection_.release();
  window.drain().move_gap(Gap::free);
}

void HandOver::advance(Window& window) {
  DrainLoop& drain = window.drain();
  if (drain.gap() == Gap::away) return release(window);
  if (drain.gap() != Gap::begun || window.calls_in_progress(drain.gap_start_ns())) return;
  collection_.quiesce();
  drain.move_gap(Gap::quiet);
}

}  // namespace rangefinder
