// SPDX-License-Identifier: Apache-2.0
//
// One window: the drain loop that writes its trace, its begin, its end with the reason, and its counters.
//
//   Window ── start() ──▶ recording ── close() ──▶ calls in progress end ── request_end() ──▶ last records
//   ──▶ ended()
//
// The session decides when; see session.h for the threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "profiler/control/control_target.h"
#include "profiler/drain/drain_loop.h"

namespace rangefinder {

class Window {
 public:
  /// `number`: from 1. `begin_ns`: begin of a window that does not begin when ready, CLOCK_REALTIME.
  Window(std::uint64_t number, CounterMode counters, std::int64_t begin_ns, DrainLoop::Sources sources);

  /// False: cannot start a thread.
  [[nodiscard]] bool start() noexcept { return drain_.start(); }
  /// For DrainLoop::Begin::on_call.
  void begin_recording() noexcept { drain_.begin_recording(); }
  /// Work that begins from now on is not recorded. `reason`: a literal.
  void close(const char* reason) noexcept;
  /// After close(): calls that began in the window still run. They belong to it, so the end waits for them,
  /// up to 200 ms.
  [[nodiscard]] bool calls_in_progress() const { return calls_in_progress(end_ns_.load()); }
  /// Calls that began before `until_ns` still run, and it is less than 200 ms ago.
  [[nodiscard]] bool calls_in_progress(std::int64_t until_ns) const;
  /// After close(), once: the drain loop finishes the trace when all work has its record, in `patience_ms` at
  /// most.
  void request_end(std::uint32_t patience_ms) noexcept;
  /// The process exits: waits until the trace is complete, `patience_ms` at most.
  void stop(const char* reason, std::uint32_t patience_ms) noexcept { drain_.stop(reason, patience_ms); }

  /// Any thread of the application: waits, 20 ms at most, until the records of finished work are in the
  /// files, unless they were written less than 50 ms ago.
  void catch_up() noexcept;

  // Any thread.
  /// The trace is complete, or could not be opened.
  [[nodiscard]] bool ended() const noexcept { return drain_.ended(); }
  [[nodiscard]] CounterMode counters() const noexcept { return counters_; }
  [[nodiscard]] WindowProgress progress() const;
  /// The last written summary.json; empty: none yet.
  [[nodiscard]] std::string summary() const { return drain_.progress(true).summary; }
  [[nodiscard]] std::uint64_t request_write() noexcept { return drain_.request_write(); }
  /// To hand CUPTI over (hand_over.h).
  [[nodiscard]] DrainLoop& drain() noexcept { return drain_; }
  void report_refusal(const std::string& reason) noexcept { drain_.report_refusal(reason); }

 private:
  const std::uint64_t number_;
  const CounterMode counters_;
  const std::int64_t begin_ns_;
  std::atomic<std::int64_t> end_ns_{0};
  std::atomic<const char*> reason_{""};
  DrainLoop drain_;
};

}  // namespace rangefinder
