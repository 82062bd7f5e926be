// SPDX-License-Identifier: Apache-2.0
//
// Our one thread inside the application. It turns in a loop:
//
//   sleep ─▶ read all rings ─▶ take exact batches ─▶ take filled buffers ─▶ Drain::end_turn
//     ▲      ask CUPTI for complete records when a flush is due                 │
//     └─────────────────────────────────────────────────────────────────────────┘
//
// One for each window. All signals are blocked in it, it holds no lock over a call, and
// what it throws it counts. stop() is called by the host's exiting thread and never waits
// longer than its deadline: then the process ends without us. end_window() waits for
// nothing: the thread turns until all work of the window has its record, then finishes.
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
    std::string out = {};        ///< template of the folder; empty: that of the options
    std::int64_t begin_ns = 0;   ///< time 0 of the trace, not before it if admits_itself; 0: now
    bool late = false;           ///< work may be on the GPU that was launched before; begins with admit()
    bool admits_itself = false;  ///< late: once the folder is there
    bool more_windows = false;   ///< the process goes on recording when this one has ended
  };

  explicit DrainThread(Sources sources);

  /// Any thread, once. False: no thread could be made.
  [[nodiscard]] bool start() noexcept;
  /// Ends the trace; `reason` goes into its last line. Returns when the files are complete or
  /// `patience_ms` have passed. Any thread; only the first call counts.
  void stop(const char* reason, std::uint32_t patience_ms) noexcept;
  /// Any thread, once, instead of stop(): what began before `end_ns` is waited for, `patience_ms` at most.
  void end_window(const char* reason, std::int64_t end_ns, std::uint32_t patience_ms) noexcept;
  /// The thread has ended; nothing of this object is in use any more.
  [[nodiscard]] bool ended() const noexcept;

  /// Begins a late window: what the program does from now on is recorded. Any thread, once.
  void admit() noexcept;

  /// What others may know of a trace while it is written. Any thread.
  struct Progress {
    bool opened = false;
    std::int64_t begin_ns = 0;  ///< of a window that admits itself, once opened
    std::string folder;         ///< absolute, once opened
    std::string error;          ///< why it could not be opened
    std::uint64_t records = 0, bytes_written = 0;
    std::uint64_t written = 0;  ///< requests of request_write() that have been met
    std::string summary;        ///< the text written last
  };
  [[nodiscard]] Progress progress(bool with_summary) const;
  /// Everything to the disk, and a summary, in the next turn. Returns the number that Progress::written
  /// will have reached then. Any thread.
  std::uint64_t request_write() noexcept;

  /// Counters were refused: any thread.
  void report_refusal(const std::string& reason) noexcept;

 private:
  static constexpr std::int64_t kQuietAfterNs = 1'000'000'000;  // without events
  void run() noexcept;
  [[nodiscard]] bool open();
  /// In `folder`, or beside or below it where that holds a trace. `names_process`: the folder is this
  /// process's own.
  [[nodiscard]] bool open_trace(const std::string& folder, bool names_process, const Header& header,
                                const std::vector<GpuRecord>& gpus);
  void report_failure(const std::string& reason);
  void admit_in_time();
  void announce();
  void turn(std::int64_t now_ns);
  void report_chain_problem();
  /// Monitor mode: switches records on and off, and ends periods. `last`: the trace ends.
  void begin_cycle();
  void follow_cycle(bool last);
  [[nodiscard]] std::chrono::milliseconds time_to_sleep() const;
  void sleep();
  void recheck(std::int64_t now_ns) noexcept;
  std::size_t read_rings();
  [[nodiscard]] bool is_of_window(const Event& event, std::int64_t from_ns) const noexcept;
  void read_exact();
  void announce_metric_sets();
  void read_samples();
  void read_buffers();
  void request_records(std::int64_t now_ns);
  void flush_the_rest();  // at the end of the window
  /// Other windows may follow, so that nothing may be switched off for good.
  [[nodiscard]] bool more_windows() const noexcept {
    return from_.more_windows && (window_end_ns_ != 0 || !stopping_.load(std::memory_order_relaxed));
  }
  void settle();
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
  std::int64_t checked_ns_ = 0;  // CLOCK_MONOTONIC: begin of the last look at the rings, or when one is due
  std::int64_t longest_away_ns_ = 0, longest_flush_ns_ = 0;
  std::atomic<std::int64_t> admitted_ns_{0};       // late: what began before is no part of the window
  std::int64_t drop_from_ns_ = Recorder::kAlways;  // nor is what began later
  std::uint64_t written_ = 0;
  bool chain_problem_reported_ = false, write_error_reported_ = false;
  std::atomic<bool> stopping_{false};
  const char* reason_ = "exit";  // written before stopping_
  // Written before stopping_; 0: the process ends.
  std::int64_t window_end_ns_ = 0;
  std::uint32_t patience_ms_ = 0;
  std::atomic<bool> hurry_{false};  // do not wait for records any more
  std::atomic<std::uint64_t> write_requested_{0};
  mutable std::mutex mutex_;
  Progress progress_;  // guarded by mutex_
  std::condition_variable ended_changed_;
  bool ended_ = false;   // guarded by mutex_
  std::string refusal_;  // guarded by mutex_
  std::atomic<bool> has_refusal_{false};
};

}  // namespace rangefinder
