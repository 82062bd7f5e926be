// SPDX-License-Identifier: Apache-2.0
//
// Our thread that writes the trace of one window in the application. Its loop, one turn:
//
//   sleep ─▶ read all rings ─▶ take exact batches ─▶ take filled buffers ─▶ TraceFiles::end_turn
//     ▲      request complete records from CUPTI when a flush is due            │
//     └─────────────────────────────────────────────────────────────────────────┘
//
// All signals are blocked in it. It holds no lock during a call. Exceptions are caught and
// counted. stop() runs on the host's exiting thread and never waits longer than its deadline:
// after that the process exits without us. end_window() does not wait: the thread runs until
// all work of the window has its record, then it finishes the trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/activity/buffer_pool.h"
#include "profiler/activity/node_record_guard.h"
#include "profiler/conditions/condition_sampler.h"
#include "profiler/counters/exact/exact_profiler.h"
#include "profiler/counters/sampling/pm_sampler.h"
#include "profiler/cupti/loader.h"
#include "profiler/drain/condition_input.h"
#include "profiler/drain/cost_meter.h"
#include "profiler/drain/drain_progress.h"
#include "profiler/drain/flush_schedule.h"
#include "profiler/drain/ring_reader.h"
#include "profiler/drain/stack_input.h"
#include "profiler/drain/trace_files.h"
#include "profiler/launch/callback_cost.h"
#include "profiler/options/options.h"

namespace rangefinder {

class DrainLoop {
 public:
  /// When the window begins. In all but the first case, earlier work may be on the GPU.
  enum class Begin : std::uint8_t {
    with_process,  ///< before the first work
    on_call,       ///< with begin_recording()
    when_ready     ///< by itself, once the folder exists
  };
  struct Sources {
    Recorder& recorder;
    const Options& options;
    const CuptiLibrary* cupti = nullptr;          ///< nullptr: NVTX only
    const CallbackCost* callback_cost = nullptr;  ///< with cupti
    BufferPool* buffers = nullptr;                ///< with cupti
    ExactProfiler* exact = nullptr;               ///< in exact mode
    PmSampler* sampler = nullptr;                 ///< in sampled mode
    ConditionSampler* conditions = nullptr;       ///< nullptr: they are not recorded
    StackSampler* stacks = nullptr;               ///< nullptr: they are not recorded
    std::string out = {};                         ///< template of the folder; empty: that of the options
    Begin begin = Begin::with_process;
    std::int64_t begin_ns = 0;  ///< time 0 of the trace, or its lower bound if it begins when ready; 0: now
    bool more_windows = false;  ///< the process may open other windows after this one
  };
  using Progress = DrainProgress::Snapshot;
  using Gap = DrainProgress::Gap;

  explicit DrainLoop(Sources sources);

  /// Any thread, once. False: cannot start a thread.
  [[nodiscard]] bool start() noexcept;
  /// Ends the trace; `reason` goes into its last line. Returns when the files are complete or
  /// `patience_ms` have passed. Any thread; only the first call counts.
  void stop(const char* reason, std::uint32_t patience_ms) noexcept;
  /// Ends the window while the process goes on. Work that began before `end_ns` is waited for, `patience_ms`
  /// at most. Any thread, once, instead of stop().
  void end_window(const char* reason, std::int64_t end_ns, std::uint32_t patience_ms) noexcept;
  /// Begins a window that begins on call: work that begins from now on is recorded. Any thread, once.
  void begin_recording() noexcept;

  /// Hands CUPTI to another tool while the window goes on: see DrainProgress::Gap. One thread.
  void request_gap(const std::string& cause) {
    progress_.request_gap(cause);
    from_.recorder.wake_drain();
  }
  void move_gap(Gap gap) noexcept {
    progress_.move_gap(gap);
    from_.recorder.wake_drain();
  }
  [[nodiscard]] Gap gap() const noexcept { return progress_.gap(); }
  [[nodiscard]] std::int64_t gap_start_ns() const noexcept { return progress_.gap_start_ns(); }

  // Any thread.
  /// The thread has ended and no longer uses this object.
  [[nodiscard]] bool ended() const noexcept { return progress_.ended(); }
  [[nodiscard]] Progress progress(bool with_summary) const { return progress_.snapshot(with_summary); }
  /// Requests that the next turn writes all lines and a summary. Fulfilled once Progress::written reaches
  /// the returned number.
  std::uint64_t request_write() noexcept;
  /// Requests that the next turn writes the records of finished work.
  void request_flush() noexcept {
    progress_.request_flush();
    from_.recorder.wake_drain();
  }
  /// When the files last had all records, CLOCK_REALTIME.
  [[nodiscard]] std::int64_t flushed_ns() const noexcept { return progress_.flushed_ns(); }
  /// Reports that counters were refused.
  void report_refusal(const std::string& reason) noexcept { progress_.report_refusal(reason); }

 private:
  void run() noexcept;
  [[nodiscard]] bool open();
  [[nodiscard]] Header header() const;
  /// Opens the trace in `folder`; if that holds a trace, in FOLDER-2 … FOLDER-99 or FOLDER/pid=PID.
  /// `names_process`: the folder's name contains the process id.
  [[nodiscard]] bool open_trace(const std::string& folder, bool names_process, const Header& header);
  void report_failure(const std::string& reason);
  void begin_when_due();
  void announce();
  /// `all_records`: asks CUPTI for its complete records in any case.
  void turn(std::int64_t now_ns, bool all_records = false);
  void report_chain_problem();
  /// Monitor mode: switch records on and off, end periods. `last`: the trace ends.
  void begin_cycle();
  void follow_cycle(bool last);
  void read_exact();
  void announce_metric_sets();
  void read_samples();
  void read_buffers();
  void request_records();
  void flush_last_records();  // at the end of the window
  [[nodiscard]] bool is_late() const noexcept { return from_.begin != Begin::with_process; }
  /// Other windows may follow, so nothing may be switched off for good.
  [[nodiscard]] bool more_windows() const noexcept {
    return from_.more_windows && (!progress_.ending() || progress_.end().window_end_ns != 0);
  }
  /// Once the window ends: its end, or now if the process exits.
  [[nodiscard]] std::int64_t end_ns() const noexcept;
  void wait_for_late_records();
  /// Turns until all work has its record, `patience_ms` at most.
  void wait_for_records(std::uint32_t patience_ms);
  void follow_gap();
  void leave_cupti();
  void end_gap(std::int64_t end_ns) {
    trace_.builder().end_gap(progress_.gap_start_ns(), end_ns, progress_.gap_cause());
    away_ = false;
  }
  [[nodiscard]] bool uses_cupti() const noexcept { return from_.cupti != nullptr && !away_; }
  void finish();
  /// `fulfilled`: number of the completed write request; 0: none.
  void notify_progress(std::uint64_t fulfilled);
  void report();
  [[nodiscard]] OwnCost cost() const;

  Sources from_;
  const CostMeter cost_;
  DrainProgress progress_;
  FlushSchedule schedule_;
  TraceFiles trace_;
  ConditionInput conditions_;
  StackInput stacks_;
  RingReader rings_;
  NodeRecordGuard node_records_;
  std::optional<MonitorCycle> cycle_;  // in monitor mode
  std::vector<ExactLaunch> exact_;
  std::vector<std::uint32_t> gpus_with_sets_;
  std::int64_t longest_flush_ns_ = 0;
  bool chain_problem_reported_ = false, write_error_reported_ = false;
  bool away_ = false;  // another tool has CUPTI
};

}  // namespace rangefinder
