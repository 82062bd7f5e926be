// SPDX-License-Identifier: Apache-2.0
//
// Our one thread inside the application. It turns in a loop:
//
//   sleep ─▶ read all rings ─▶ take exact batches ─▶ take filled buffers ─▶ Drain::end_turn
//     ▲      ask CUPTI for complete records when a flush is due                 │
//     └─────────────────────────────────────────────────────────────────────────┘
//
// All signals are blocked in it, it holds no lock over a call, and what it throws it
// counts. stop() is called by the host's exiting thread and never waits longer than
// its deadline: then the process ends without us.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "profiler/activity/buffer_pool.h"
#include "profiler/counters/exact_profiler.h"
#include "profiler/counters/pm_sampler.h"
#include "profiler/cupti/loader.h"
#include "profiler/drain/drain.h"
#include "profiler/options.h"

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
  };

  explicit DrainThread(Sources sources);

  /// Any thread, once. False: no thread could be made.
  [[nodiscard]] bool start() noexcept;
  /// Ends the trace; `reason` goes into its last line. Returns when the files are complete or
  /// `patience_ms` have passed. Any thread; only the first call counts.
  void stop(const char* reason, std::uint32_t patience_ms) noexcept;
  /// Counters were refused: any thread.
  void tell_refusal(const std::string& reason) noexcept;

 private:
  void run() noexcept;
  [[nodiscard]] bool open();
  void announce();
  void turn(std::int64_t now_ns);
  void tell_chain_problem();
  std::size_t read_rings();
  void read_exact();
  void announce_metric_sets();
  void read_samples();
  void read_buffers();
  void ask_for_records(std::int64_t now_ns);
  void finish();
  void report();
  [[nodiscard]] OwnCost cost() const;
  [[nodiscard]] static bool guarded(LossLedger& loss, const std::function<void()>& step) noexcept;

  Sources from_;
  Drain drain_;
  std::vector<std::byte> extra_;
  std::vector<ExactLaunch> exact_;
  std::vector<PmRecord> samples_;
  std::vector<std::uint32_t> named_threads_;
  std::vector<std::uint32_t> gpus_with_sets_;
  std::int64_t last_ask_ns_ = 0, last_input_ns_ = 0;
  bool told_chain_problem_ = false;
  std::atomic<bool> stopping_{false};
  const char* reason_ = "exit";  // written before stopping_
  std::mutex mutex_;
  std::condition_variable ended_changed_;
  bool ended_ = false;   // guarded by mutex_
  std::string refusal_;  // guarded by mutex_
  std::atomic<bool> has_refusal_{false};
};

}  // namespace rangefinder
