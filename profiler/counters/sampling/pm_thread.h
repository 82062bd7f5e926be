// SPDX-License-Identifier: Apache-2.0
//
// The thread that samples one GPU.
//
//   first context ─▶ open ─▶ { wait kPeriod ─▶ decode ─▶ PmEvaluator } ─▶ close ◀─ last context ends, stop()
//                     ▲                          │                └─▶ evaluate ─▶ encode ─▶ deliver
//                     └── a longer interval ◀────┘ the buffer overflowed, or PmPace asks for it
//
// Counters are held only between open and close: not before a context exists, and not after
// the last one is destroyed. The thread makes no CUDA calls, and calls CUPTI only without
// holding a lock of ours.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>

#include "profiler/counters/sampling/pm_encoder.h"
#include "profiler/counters/sampling/pm_pace.h"
#include "profiler/counters/sampling/pm_session.h"
#include "schema/loss.h"
#include "schema/sample_record.h"

namespace rangefinder {

class PmThread {
 public:
  /// Time between two decodings. Short compared with an image (PmSession::kImageSamples), so that data
  /// written by one thread is still in the cache when the other reads it.
  static constexpr std::chrono::milliseconds kPeriod{5};
  static constexpr std::uint32_t kMaxIntervalNs = 10'000'000;

  struct Hooks {
    void* user = nullptr;
    void (*samples)(void* user, const SamplesRecord& record) = nullptr;  ///< times absolute
    void (*change)(void* user, SamplingRecord&& record) = nullptr;       ///< times absolute
    void (*refused)(void* user, const std::string& reason) = nullptr;
    void (*prepared)(void* user) = nullptr;  ///< each time before counters are held
  };

  /// The requested interval and CPU limit.
  struct Wanted {
    std::uint32_t interval_ns = 20'000;
    std::uint32_t max_cpu_percent = 100;  ///< of one core; 0: no limit
  };

  PmThread(const CuptiLibrary& library, LossLedger& loss, std::uint32_t gpu, const Wanted& wanted,
           const Hooks& hooks);

  /// Any thread. A context on the GPU exists: starts sampling after `delay` if not started yet.
  void context_added(std::chrono::milliseconds delay) noexcept;
  /// Any thread. If this was the last context, waits until the counters are released, up to `patience`.
  void context_removed(std::chrono::milliseconds patience) noexcept;
  /// Any thread: ends sampling. Use wait_until_free() to wait for that.
  void stop() noexcept;
  void wait_until_free(std::chrono::steady_clock::time_point deadline) noexcept;
  /// Any thread: waits until sampling has started or has failed. False: `deadline` has passed.
  [[nodiscard]] bool wait_until_begun(std::chrono::steady_clock::time_point deadline) noexcept;

  /// A window begins. Any thread.
  void begin_window() noexcept { start_.store(Start::none, std::memory_order_relaxed); }
  /// Whether sampling should have started in this window and has not. Any thread.
  [[nodiscard]] bool is_late() const noexcept { return start_.load(std::memory_order_relaxed) == Start::due; }

  /// CPU time of sampling and evaluation so far.
  [[nodiscard]] std::uint64_t cpu_ns() const noexcept { return cpu_ns_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t samples() const noexcept { return samples_.load(std::memory_order_relaxed); }

 private:
  void run() noexcept;
  class Reading;
  [[nodiscard]] bool sample();  // from open to close; false: never again
  [[nodiscard]] bool open();
  [[nodiscard]] bool reopen(std::uint32_t interval_ns, const char* reason);
  [[nodiscard]] bool is_wanted();    // a context exists, and stop() was not called
  [[nodiscard]] bool wait_period();  // false: sampling must end
  void take(PmEncoder& encoder, const PmSample& sample);
  void count_gap(std::int64_t until_ns);
  void count_lost(std::uint64_t samples) noexcept;
  void report_change(std::uint32_t interval_ns, const std::string& reason);
  void refuse(const std::string& reason);

  LossLedger& loss_;
  const std::uint32_t gpu_;
  const Hooks hooks_;
  std::atomic<std::uint64_t> cpu_ns_{0}, samples_{0}, lost_{0};
  enum class Start : std::uint8_t { none, due, done };
  std::atomic<Start> start_{Start::none};  // of this window

  // Sampling thread only.
  PmSession session_;
  std::uint32_t interval_ns_;
  PmPace pace_;
  std::uint64_t evaluation_ns_ = 0;  // CPU time of evaluators that have ended
  // Evaluating thread; the sampling thread uses them only while no evaluation runs.
  std::int64_t last_end_ns_ = 0, last_length_ns_ = 0;
  bool gap_ = false;  // samples were lost after the last one

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::uint32_t contexts_ = 0;
  std::chrono::milliseconds delay_{0};
  bool started_ = false, sampling_ = false, begun_ = false, stopping_ = false, ended_ = false;
};

}  // namespace rangefinder
