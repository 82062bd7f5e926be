// SPDX-License-Identifier: Apache-2.0
#include "profiler/session/hand_over.h"

namespace rangefinder {

using Gap = DrainLoop::Gap;

std::string HandOver::begin(Window& window, const std::string& cause) {
  if (yielded() || in_progress_) return {};
  if (!collection_.held()) return "this window does not use CUPTI";
  refused_ = false;
  tries_ = 0;
  window.drain().request_gap(cause);
  in_progress_ = true;
  return {};
}

std::string HandOver::take_back(Window& window) {
  return in_progress_ ? "CUPTI is changing hands" : end_gap(window);
}

std::string HandOver::end_gap(Window& window) {
  std::string error;
  if (!collection_.begin(window.counters(), collection_.requested(), true, error)) return error;
  window.drain().move_gap(Gap::over);
  in_progress_ = true;
  return {};
}

// Callbacks that go off while a thread is in the call would give all its later launches one correlation id
// (calls_in_progress.h), also those after the gap. So CUPTI is kept where threads call without a pause.
void HandOver::release(Window& window) {
  if (!collection_.end() && ++tries_ < kMaxTries) return;
  if (tries_ == kMaxTries && end_gap(window).empty()) return;
  tries_ = 0;
  collection_.release();
  yielded_.store(true);
  in_progress_ = false;
}

void HandOver::advance(Window& window) {
  DrainLoop& drain = window.drain();
  const bool drain_ended = drain.ended();
  switch (drain.gap()) {
    case Gap::begun:
      if (window.calls_in_progress(drain.gap_start_ns())) return;
      collection_.quiesce();
      return drain.move_gap(Gap::quiet);
    case Gap::away:
      return release(window);
    case Gap::none:
      refused_ = tries_ == kMaxTries;
      tries_ = 0;
      yielded_.store(false);
      in_progress_ = false;
      return;
    default:
      if (drain_ended) in_progress_ = false;  // its folder could not be opened
  }
}

}  // namespace rangefinder
