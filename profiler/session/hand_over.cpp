// SPDX-License-Identifier: Apache-2.0
#include "profiler/session/hand_over.h"

namespace rangefinder {

using Gap = DrainLoop::Gap;

std::string HandOver::begin(Window& window, const std::string& cause) {
  if (yielded() || in_progress_) return {};
  if (!collection_.held()) return "this window does not use CUPTI";
  window.drain().request_gap(cause);
  in_progress_ = true;
  return {};
}

std::string HandOver::take_back(Window& window) {
  if (in_progress_) return "CUPTI is changing hands";
  std::string error;
  if (!collection_.begin(window.counters(), collection_.requested(), true, error)) return error;
  window.drain().move_gap(Gap::over);
  in_progress_ = true;
  return {};
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
      collection_.give_up();
      yielded_.store(true);
      in_progress_ = false;
      return;
    case Gap::none:
      yielded_.store(false);
      in_progress_ = false;
      return;
    default:
      if (drain_ended) in_progress_ = false;  // its folder could not be opened
  }
}

}  // namespace rangefinder
