// SPDX-License-Identifier: Apache-2.0
//
// What control can do to a process: open and close windows, ask how it is going. The
// session is one; tests of the socket and of its commands use another, without CUPTI.
//
//   idle ── begin_window ──▶ recording ── close_window ──▶ closing ── finish_window, often ──▶ idle
//    │ ▲
//    └─┴── give_up_cupti, reclaim_cupti
//
// begin_window and close_window: any thread, without waiting for the GPU. All others: the
// control thread only. What comes at the wrong time is refused with a sentence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "profiler/options/options.h"

namespace rangefinder {

enum class SessionState : std::uint8_t { idle, opening, recording, closing, ended };
[[nodiscard]] constexpr const char* state_text(SessionState state) noexcept {
  switch (state) {
    case SessionState::idle:
      return "idle";
    case SessionState::opening:
      return "opening";
    case SessionState::recording:
      return "recording";
    case SessionState::closing:
      return "closing";
    case SessionState::ended:
      break;
  }
  return "ended";
}

/// What begin_window() says while the window before is closing: later it will work.
inline constexpr const char* kNotCompleteYet = "the last window is not complete yet";

struct WindowRequest {
  std::string out;                      ///< template of the folder; empty: by the options
  std::optional<CounterMode> counters;  ///< for this window only
  std::int64_t begin_ns = 0;            ///< CLOCK_REALTIME, a moment ago; when_ready: not before; 0: now
  /// It begins once its folder is there: for those who wait for that. What a program brings about (a range,
  /// cuProfilerStart) begins at once, and a disk that takes long may cost it events.
  bool when_ready = false;
};

/// Of the window that is open, or else of the last one.
struct WindowProgress {
  std::uint64_t number = 0;  ///< from 1; 0: there was none yet
  bool opened = false;       ///< `folder` is there
  std::string folder;        ///< absolute
  std::string error;         ///< why nothing is written
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint64_t records = 0, bytes_written = 0, lost = 0;
  std::uint64_t written = 0;  ///< requests of request_write() that have been met
};

struct SessionStatus {
  SessionState state = SessionState::idle;
  bool yielded = false;  ///< CUPTI was given up until reclaim_cupti()
  bool holds_cupti = false;
  bool settling = false;  ///< the last window's callbacks are not all off yet: ask finish_window() again
  CounterMode counters = CounterMode::off;  ///< of the open window, else of the next
  std::string metrics;
  std::uint64_t launches = 0;  ///< seen since the process began
  WindowProgress window;
};

class ControlTarget {
 public:
  ControlTarget() = default;
  virtual ~ControlTarget() = default;
  ControlTarget(const ControlTarget&) = delete;
  ControlTarget& operator=(const ControlTarget&) = delete;

  /// Empty: the window is open. Else why not.
  [[nodiscard]] virtual std::string begin_window(const WindowRequest& request) noexcept = 0;
  /// What begins from now on is not recorded. Empty, or why not.
  [[nodiscard]] virtual std::string close_window(const char* reason) noexcept = 0;
  /// True: something is on the way, call again soon.
  [[nodiscard]] virtual bool finish_window() = 0;

  [[nodiscard]] virtual std::string give_up_cupti() = 0;
  [[nodiscard]] virtual std::string reclaim_cupti() = 0;

  [[nodiscard]] virtual SessionStatus status() = 0;
  /// Of windows that begin from now on.
  virtual void set_counters(CounterMode counters) = 0;
  [[nodiscard]] virtual std::string set_metrics(const std::string& metrics) = 0;
  /// Everything to the disk soon; done when WindowProgress::written has reached the result. 0: no window.
  [[nodiscard]] virtual std::uint64_t request_write() = 0;
  /// summary.json as it was written last in the window; empty: not yet.
  [[nodiscard]] virtual std::string summary() = 0;
};

}  // namespace rangefinder
