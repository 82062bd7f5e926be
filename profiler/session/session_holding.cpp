// SPDX-License-Identifier: Apache-2.0
//
// Session: its subscription to CUPTI between windows. It is kept or released at a window's end, given up to
// another tool, and taken back.
#include "profiler/session/session.h"

namespace rangefinder {

bool Session::holds_between_windows() const noexcept {
  return options_.start != StartMode::off || options_.capture.by == CaptureBy::profiler_calls;
}

// Restores the state of before the window.
void Session::end_collection() {
  disabling_callbacks_.store(!collection_.end());
  if (!disabling_callbacks_.load() && (yielded_.load() || !holds_between_windows())) collection_.release();
}

// Threads in long calls may have kept callbacks on at the window's end.
void Session::retry_end_collection() {
  SessionState state = SessionState::idle;
  if (!disabling_callbacks_.load() || !state_.compare_exchange_strong(state, SessionState::opening)) return;
  end_collection();
  state = SessionState::opening;
  state_.compare_exchange_strong(state, SessionState::idle);
}

std::string Session::give_up_cupti() {
  const InsideCupti inside(*this);
  if (state_.load() != SessionState::idle) return "a window is open";
  yielded_.store(true);
  disabling_callbacks_.store(false);
  collection_.give_up();
  return {};
}

std::string Session::reclaim_cupti() {
  const InsideCupti inside(*this);
  if (state_.load() == SessionState::ended) return "the process is exiting";
  if (!yielded_.exchange(false)) return "CUPTI was not given up";
  if (!holds_between_windows()) return {};
  const bool profiler_calls = options_.capture.by == CaptureBy::profiler_calls;
  std::string error;
  if (collection_.load(error) && collection_.hold(profiler_calls, error)) return {};
  yielded_.store(true);
  return error;
}

}  // namespace rangefinder
