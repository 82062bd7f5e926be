// SPDX-License-Identifier: Apache-2.0
//
// Our thread that writes the trace of one window in the application. Its loop, one turn:
//
//   sleep ─▶ read all rings ─▶ take exact batches ─▶ take filled buffers ─▶ Drain::end_turn
//     ▲      request complete records from CUPTI when a flush is due            │
//     └─────────────────────────────────────────────────────────────────────────┘
//
// All signals are blocked in it. It holds no lock during a call. Exceptions are caught and
// counted. stop() runs on the host's exiting thread and never waits longer than its deadline:
// after that the process exits without us. end_window() does not wait: the thread runs until
// all work of the window has its record, then it finishes the trace.
//
// Three files: drain_thread.cpp holds the loop and the readers, drain_window.cpp begin, end and
// progress of the window, drain_pace.cpp sleep, flush requests and monitor mode.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "profiler/activity/buffer_pool.h"
#include "profiler/activity/node_record_guard.h"
#include "profiler/counters/exact/exact_profiler.h"
#include "profiler/counters/sampling/pm_sampler.h"
#include "profiler/cupti/loader.h"
#include "profiler/drain/drain.h"
#include "profiler/options/options.h"

namespace rangefinder {

class DrainThread {
 public:
  struct Sources {
    Recorder& recorder;
    const Options& options;
    const CuptiLibrary* cupti = nullptr;  ///< nullptr: NVTX only
    BufferPool* buffers = nullptr;        ///< with cupti
    ExactProfiler* exact = nullptr;       ///< in exact mode
    PmSampler* sampler = nullptr;         ///< in sampled mode
    /// Cost that the callbacks measured; the thread adds its own.
    std::function<OwnCost()> cost = {};
    std::string out = {};       ///< template of the folder; empty: that of the options
    std::int64_t begin_ns = 0;  ///< time 0 of the trace, or its lower bound with begins_when_ready; 0: now
    bool late = false;          ///< earlier work may be on the GPU; begins with begin_recording()
    bool begins_when_ready = false;  ///< with late: begins by itself once the folder exists
    bool more_windows = false;       ///< the process may open other windows after this one
  };

  explicit DrainThread(Sources sources);

  /// Any thread, once. False: cannot start a thread.
  [[nodiscard]] bool start() noexcept;
  /// Ends the trace; `reason` goes into its last line. Returns when the files are complete or
  /// `patience_ms` have passed. Any thread; only the first call counts.
  void stop(const char* reason, std::uint32_t patience_ms) noexcept;
  /// Ends the window while the process goes on. Work that began before `end_ns` is waited for, `patience_ms`
  /// at most. Any thread, once, instead of stop().
  void end_window(const char* reason, std::int64_t end_ns, std::uint32_t patience_ms) noexcept;
  /// The thread has ended and no longer uses this object.
  [[nodiscard]] bool ended() const noexcept;

  /// Begins a late window: work that begins from now on is recorded. Any thread, once.
  void begin_recording() noexcept;

  /// State of the trace while it is written. Any thread.
  struct Progress {
    bool opened = false;
    std::int64_t begin_ns = 0;  ///< only with begins_when_ready, once opened
    std::string folder;         ///< absolute, once opened
    std::string error;          ///< why it could not be opened
    std::uint64_t records = 0, bytes_written = 0;
    std::uint64_t written = 0;  ///< the last fulfilled request of request_write()
    std::string summary;        ///< the last written text
  };
  [[nodiscard]] Progress progress(bool with_summary) const;
  /// Requests that the next turn writes all lines and a summary. Fulfilled once Progress::written reaches
  /// the returned number. Any thread.
  std::uint64_t request_write() noexcept;

  /// Reports that counters were refused. Any thread.
  void report_refusal(const std::string& reason) noexcept;

 private:
  static constexpr std::int64_t kQuietAfterNs = 1'000'000'000;  // quiet: no events for this time
  void run() noexcept;
  [[nodiscard]] bool open();
  /// Opens the trace in `folder`; if that holds a trace, in FOLDER-2 … FOLDER-99 or FOLDER/pid=PID.
  /// `names_process`: the folder's name contains the process id.
  [[nodiscard]] bool open_trace(const std::string& folder, bool names_process, const Header& header,
                                const std::vector<GpuRecord>& gpus);
  void report_failure(const std::string& reason);
  void begin_when_due();
  void announce();
  void turn(std::int64_t now_ns);
  void report_chain_problem();
  /// Monitor mode: switch records on and off, end periods. `last`: the trace ends.
  void begin_cycle();
  void follow_cycle(bool last);
  [[nodiscard]] std::chrono::milliseconds time_to_sleep() const;
  void sleep();
  void note_rings_read(std::int64_t now_ns) noexcept;
  std::size_t read_rings();
  [[nodiscard]] bool is_of_window(const Event& event, std::int64_t from_ns) const noexcept;
  void read_exact();
  void announce_metric_sets();
  void read_samples();
  void read_buffers();
  void request_records(std::int64_t now_ns);
  void flush_last_records();  // at the end of the window
  /// Other windows may follow, so nothing may be switched off for good.
  [[nodiscard]] bool more_windows() const noexcept {
    return from_.more_windows && (window_end_ns_ != 0 || !stopping_.load(std::memory_order_relaxed));
  }
  void wait_for_late_records();
  void finish();
  void notify_progress();
  void report();
  [[nodiscard]] OwnCost cost() const;
  [[nodiscard]] OwnCost cost_of_all_windows() const;
  [[nodiscard]] static bool guarded(LossLedger& loss, const std::function<void()>& step) noexcept;

  Sources from_;
  const OwnCost cost_before_;  // of earlier windows
  Drain drain_;
  NodeRecordGuard node_records_;
  std::optional<MonitorCycle> cycle_;  // in monitor mode
  std::vector<std::byte> extra_;
  std::vector<ExactLaunch> exact_;
  std::vector<std::uint32_t> named_threads_;
  std::vector<std::uint32_t> gpus_with_sets_;
  std::int64_t last_request_ns_ = 0, last_input_ns_ = 0;
  std::int64_t rings_read_ns_ = 0;  // CLOCK_MONOTONIC: the last read of the rings began, or the next is due
  std::int64_t longest_gap_ns_ = 0, longest_flush_ns_ = 0;
  std::atomic<std::int64_t> record_from_ns_{0};    // late: events that began earlier are not of the window
  std::int64_t drop_from_ns_ = Recorder::kAlways;  // events that began later are not either
  std::uint64_t written_ = 0;
  bool chain_problem_reported_ = false, write_error_reported_ = false;
  std::atomic<bool> stopping_{false};
  const char* reason_ = "exit";  // written before stopping_
  // Written before stopping_; 0: the process exits.
  std::int64_t window_end_ns_ = 0;
  std::uint32_t patience_ms_ = 0;
  std::atomic<bool> hurry_{false};  // stop() was called: do not wait for records
  std::atomic<std::uint64_t> write_requested_{0};
  mutable std::mutex mutex_;
  Progress progress_;  // guarded by mutex_
  std::condition_variable ended_changed_;
  bool ended_ = false;   // guarded by mutex_
  std::string refusal_;  // guarded by mutex_
  std::atomic<bool> has_refusal_{false};
};

}  // namespace rangefinder
