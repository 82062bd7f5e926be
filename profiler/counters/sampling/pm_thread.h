// SPDX-License-Identifier: Apache-2.0
//
// The thread that samples one GPU.
//
//   first context ─▶ open ─▶ { wait kPeriod ─▶ decode ─▶ PmEvaluator } ─▶ close ◀─ last context ends, stop()
//                     ▲                          │                └─▶ evaluate ─▶ encode ─▶ deliver
//                     └── a longer interval ◀────┘ the buffer ran over, or PmPace says so
//
// Counters are held between open and close and at no other time: not before a context
// exists, not after the last has gone. The thread calls nothing of CUDA, and CUPTI only
// without a lock of ours.
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
  /// Between two decodings. Short against what an image holds (PmSession::kImageSamples), so that what
  /// one thread has just written is in the cache still when the other reads it.
  static constexpr std::chrono::milliseconds kPeriod{5};
  static constexpr std::uint32_t kLongestIntervalNs = 10'000'000;

  struct Hooks {
    void* user = nullptr;
    void (*samples)(void* user, const SamplesRecord& record) = nullptr;  ///< times absolute
    void (*change)(void* user, SamplingRecord&& record) = nullptr;       ///< times absolute
    void (*refused)(void* user, const std::string& reason) = nullptr;
    void (*prepared)(void* user) = nullptr;  ///< each time before counters are held
  };

  /// How often, and what it may take.
  struct Wanted {
    std::uint32_t interval_ns = 20'000;
    std::uint32_t max_cpu_percent = 100;  ///< of one core; 0: no bound
  };

  PmThread(const CuptiLibrary& library, LossLedger& loss, std::uint32_t gpu, const Wanted& wanted,
           const Hooks& hooks);

  /// Any thread. A context on the GPU exists: sampling begins, unless it has.
  void context_added() noexcept;
  /// Any thread. Returns when the counters are free, if this was the last context, or after `patience`.
  void context_removed(std::chrono::milliseconds patience) noexcept;
  /// Any thread: no more sampling. wait_until_free() tells when it has ended.
  void stop() noexcept;
  void wait_until_free(std::chrono::steady_clock::time_point deadline) noexcept;
  /// Any thread: returns when samples are taken, or turned out to be impossible, or at `deadline`: false.
  [[nodiscard]] bool wait_until_begun(std::chrono::steady_clock::time_point deadline) noexcept;

  /// Of this thread, so far.
  [[nodiscard]] std::uint64_t cpu_ns() const noexcept { return cpu_ns_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t samples() const noexcept { return samples_.load(std::memory_order_relaxed); }

 private:
  void run() noexcept;
  class Reading;
  [[nodiscard]] bool sample();  // from open to close; false: never again
  [[nodiscard]] bool open();
  [[nodiscard]] bool reopen(std::uint32_t interval_ns, const char* reason);
  [[nodiscard]] bool wait_period();  // false: sampling is not wanted any more
  void take(PmEncoder& encoder, const PmSample& sample);
  void count_gap(std::int64_t until_ns);
  void count_lost(std::uint64_t samples) noexcept;
  void tell(std::uint32_t interval_ns, const std::string& reason);
  void refuse(const std::string& reason);

  LossLedger& loss_;
  const std::uint32_t gpu_;
  const Hooks hooks_;
  std::atomic<std::uint64_t> cpu_ns_{0}, samples_{0}, lost_{0};

  // The sampling thread's own.
  PmSession session_;
  std::uint32_t interval_ns_;
  PmPace pace_;
  std::uint64_t evaluation_ns_ = 0;  // CPU time of evaluators that have ended
  // Of whoever evaluates: the sampling thread touches them only while nothing is being evaluated.
  std::int64_t last_end_ns_ = 0, last_length_ns_ = 0;
  bool gap_ = false;  // what was sampled last is followed by lost samples

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::uint32_t contexts_ = 0;
  bool started_ = false, sampling_ = false, begun_ = false, stopping_ = false, ended_ = false;
};

}  // namespace rangefinder
