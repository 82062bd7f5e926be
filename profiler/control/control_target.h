// SPDX-License-Identifier: Apache-2.0
//
// What control can do to a process: open and close windows, and read its status. Session
// implements it; tests of the socket and of its commands use a fake without CUPTI.
//
//   idle ── begin_window ──▶ recording ── close_window ──▶ closing ─▶ finishing ── finish_window ──▶ idle
//    │ ▲                                                                                └─▶ settling ──▶ idle
//    ▼ │ give_up_cupti, reclaim_cupti
//   yielded
//
// closing: calls that began in the window still run. finishing: the last records are missing. settling: the
// trace is complete, and a new window may begin, but a thread is in a long call, and its callbacks are still
// on. yielded: no window is open, and CUPTI was given up. While a window is recording, its steps of giving
// CUPTI up are DrainProgress::Gap.
//
// begin_window and close_window: any thread; they do not wait for the GPU. All others:
// control thread only. A call at the wrong time is refused with a message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "profiler/options/options.h"

namespace rangefinder {

enum class SessionState : std::uint8_t { idle, recording, closing, finishing, settling, yielded, ended };
/// The trace of the last window is complete.
[[nodiscard]] constexpr bool is_complete(SessionState state) noexcept {
  return state == SessionState::idle || state == SessionState::settling || state == SessionState::yielded;
}
[[nodiscard]] constexpr bool is_closing(SessionState state) noexcept {
  return state == SessionState::closing || state == SessionState::finishing;
}
[[nodiscard]] constexpr const char* state_text(SessionState state) noexcept {
  if (is_complete(state)) return "idle";
  if (state == SessionState::recording) return "recording";
  return is_closing(state) ? "closing" : "ended";
}

/// begin_window() returns this while the previous window is closing. A later call can succeed.
inline constexpr const char* kNotCompleteYet = "the last window is not complete yet";

struct WindowRequest {
  std::string out;                      ///< template of the folder; empty: as in the options
  std::optional<CounterMode> counters;  ///< for this window only
  /// CLOCK_REALTIME; 0: now. Otherwise a moment in the past, or with when_ready the earliest begin.
  std::int64_t begin_ns = 0;
  /// An interactive window: it begins once its folder exists. Without it, as for a range or
  /// cuProfilerStart, the window begins at once, and a slow disk may cost it events.
  bool when_ready = false;
};

/// Progress of the open window, else of the last one.
struct WindowProgress {
  std::uint64_t number = 0;  ///< from 1; 0: no window yet
  bool opened = false;       ///< `folder` exists
  std::string folder;        ///< absolute
  std::string error;         ///< why nothing can be written
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint64_t records = 0, bytes_written = 0, lost = 0;
  std::uint64_t written = 0;  ///< the last fulfilled request of request_write()
};

struct SessionStatus {
  SessionState state = SessionState::idle;
  bool yielded = false;        ///< CUPTI was given up until reclaim_cupti()
  bool yield_refused = false;  ///< the last give_up_cupti() in a window failed: threads call without a pause
  bool holds_cupti = false;
  CounterMode counters = CounterMode::off;  ///< of the open window, else of the next
  std::string metrics;
  std::uint64_t launches = 0;  ///< counted since the process began
  WindowProgress window;
};

class ControlTarget {
 public:
  ControlTarget() = default;
  virtual ~ControlTarget() = default;
  ControlTarget(const ControlTarget&) = delete;
  ControlTarget& operator=(const ControlTarget&) = delete;

  /// Empty: the window is open. Else the reason why not.
  [[nodiscard]] virtual std::string begin_window(const WindowRequest& request) noexcept = 0;
  /// Work that begins from now on is not recorded. Empty, or an error.
  [[nodiscard]] virtual std::string close_window(const char* reason) noexcept = 0;
  /// Advances a closing window. True: not complete yet, call again soon.
  [[nodiscard]] virtual bool finish_window() = 0;

  /// With a `gap_cause` an open window goes on without CUPTI, and its trace has a gap line with that cause.
  /// Without one it is refused while a window is open. Empty: begun; done once status().yielded.
  [[nodiscard]] virtual std::string give_up_cupti(const std::string& gap_cause) = 0;
  /// Empty: begun; done once !status().yielded. Else why not.
  [[nodiscard]] virtual std::string reclaim_cupti() = 0;

  [[nodiscard]] virtual SessionStatus status() = 0;
  /// For windows that begin from now on.
  virtual void set_counters(CounterMode counters) = 0;
  [[nodiscard]] virtual std::string set_metrics(const std::string& metrics) = 0;
  /// Requests a write of all data to the disk. Done when WindowProgress::written reaches the result.
  /// 0: no window is open.
  [[nodiscard]] virtual std::uint64_t request_write() = 0;
  /// The last written summary.json of the window; empty: none yet.
  [[nodiscard]] virtual std::string summary() = 0;
};

}  // namespace rangefinder
