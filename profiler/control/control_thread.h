// SPDX-License-Identifier: Apache-2.0
//
// Our second thread inside the application: whoever wants something of a process that
// runs is served by it.
//
//   control socket ─▶ ControlServer ─▶ ControlCommands ─┐
//   --capture, ranges and cudaProfilerStart ────────────┼─▶ ControlTarget (the session)
//   time, launches ─▶ WindowSchedule ───────────────────┘      ▲
//                                              finish_window ──┘  until a closed window is complete
//
// It sleeps in poll() for ever where nothing is on the way. All signals are blocked in
// it. Leaked: the process ends without waiting for it; close() removes the socket's file.
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

  /// Opens the socket, unless the options say no, and starts. Once. False: no thread could be made.
  [[nodiscard]] bool start();
  /// The process ends: nothing is begun any more, and the socket's file is removed. Any thread.
  void close() noexcept;
  /// A range has closed its window, or someone else has: look after it. Any thread.
  void wake() noexcept { server_.wake(); }

  /// cuProfilerStart has returned, or cuProfilerStop begins: on the application's thread. Start waits for
  /// the window before to be complete: the application asked for it.
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
  std::atomic<std::uint64_t> captures_left_{0};  // of cudaProfilerApi and of time
  std::uint64_t timed_captures_ = 0;
  std::atomic<bool> capture_error_reported_{false};
};

}  // namespace rangefinder
