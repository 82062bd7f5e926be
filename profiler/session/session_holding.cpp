// SPDX-License-Identifier: Apache-2.0
//
// The session's hold on CUPTI between windows: kept, let go when a window has ended, given up to another tool
// and taken back.
#include "profiler/session/session.h"

namespace rangefinder {

bool Session::holds_between_windows() const noexcept {
  return options_.start != StartMode::off || options_.capture.by == CaptureBy::profiler_calls;
}

// As it was before the window.
void Session::end_collection() {
  settling_.store(!collection_.end());
  if (!settling_.load() && (yielded_.load() || !holds_between_windows())) collection_.release();
}

// What a thread in a long call has kept from being switched off.
void Session::settle_collection() {
  SessionState state = SessionState::idle;
  if (!settling_.load() || !state_.compare_exchange_strong(state, SessionState::opening)) return;
  end_collection();
  state = SessionState::opening;
  state_.compare_exchange_strong(state, SessionState::idle);
}

std::string Session::give_up_cupti() {
  const InsideCupti inside(*this);
  if (state_.load() != SessionState::idle) return "a window is open";
  yielded_.store(true);
  settling_.store(false);
  collection_.give_up();
  return {};
}

std::string Session::reclaim_cupti() {
  const InsideCupti inside(*this);
  if (state_.load() == SessionState::ended) return "the process ends";
  if (!yielded_.exchange(false)) return "CUPTI was not given up";
  if (!holds_between_windows()) return {};
  const bool profiler_calls = options_.capture.by == CaptureBy::profiler_calls;
  std::string error;
  if (collection_.load(error) && collection_.hold(profiler_calls, error)) return {};
  yielded_.store(true);
  return error;
}

}  // namespace rangefinder
