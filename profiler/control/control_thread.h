// SPDX-License-Identifier: Apache-2.0
//
// Our second thread in the application. It serves control clients and opens windows on schedule.
//
//   control socket ─▶ ControlServer ─▶ ControlCommands ─┐
//   --capture, ranges and cudaProfilerStart ────────────┼─▶ ControlTarget (the session)
//   time, launches ─▶ WindowSchedule ───────────────────┘      ▲
//                                              finish_window ──┘  until a closed window is complete
//
// It sleeps in poll() without a timeout while nothing is pending. All signals are blocked in
// it. Leaked: the process exits without waiting for it; close() removes the socket's file.
#pragma once

#include <atomic>
#include <string>

#include "profiler/control/control_commands.h"
#include "profiler/control/control_server.h"
#include "profiler/control/control_target.h"
#include "profiler/control/range_windows.h"
#include "profiler/control/window_schedule.h"
#include "profiler/options/options.h"

namespace rangefinder {

class ControlThread {
 public:
  ControlThread(ControlTarget& target, const Options& options);

  /// Opens the socket if the options allow it, and starts the thread. Call once. False: cannot start a
  /// thread.
  [[nodiscard]] bool start();
  /// Call when the process exits: begins no more windows, and removes the socket's file. Any thread.
  void close() noexcept;
  /// Call after a window was closed by another thread, so that it is finished soon. Any thread.
  void wake() noexcept { server_.wake(); }

  /// cuProfilerStart has returned, or cuProfilerStop begins. On the application's thread, which waits at
  /// start until the previous window is complete, 2 s at most.
  void on_profiler_call(bool start) noexcept;

 private:
  void run() noexcept;
  void turn();
  void open_socket();
  void begin_capture();
  void watch_capture(std::int64_t now_ns);
  void report_capture_error() noexcept;
  [[nodiscard]] std::int64_t wait_ms(std::int64_t now_ns, bool finishing) const;

  ControlTarget& target_;
  const Options& options_;
  RangeWindows ranges_;
  WindowSchedule schedule_;
  ControlCommands commands_;
  ControlServer server_;
  std::atomic<bool> closing_{false};
  std::atomic<std::uint64_t> captures_left_{0};  // windows by cuProfilerStart
  std::uint64_t timed_captures_ = 0;
  std::atomic<bool> capture_error_reported_{false};
};

}  // namespace rangefinder
