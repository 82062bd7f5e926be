// SPDX-License-Identifier: Apache-2.0
//
// Sampled mode: DRAM, L2 and link traffic of whole GPUs every few microseconds, without
// touching the application's launches.
//
//   contexts with work ─▶ PmThread, one a GPU ─▶ queue ─▶ take() ─▶ drain thread ─▶ `samples` lines
//
// attribution/ assigns the bytes to paths, by time. If the driver refuses counters, tracing
// continues without them. A GPU is sampled from the first work on it, not from its first
// context: several processes may each have an unused context on the first GPU, and a GPU's
// counters serve one process at a time.
#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "profiler/counters/sampling/pm_thread.h"
#include "profiler/counters/sampling/sample_queue.h"
#include "profiler/cupti/loader.h"
#include "schema/loss.h"

namespace rangefinder {

class PmSampler {
 public:
  static constexpr std::uint32_t kMaxGpus = 64;
  /// Maximum wait of a thread that destroys a GPU's last context for its counters to be released.
  static constexpr std::chrono::milliseconds kContextPatience{1000};
  /// Maximum wait of a context's first work for sampling to start. After one timeout no thread waits again:
  /// sampling cannot start while the waiting thread holds the loader's lock.
  static constexpr std::chrono::milliseconds kBeginPatience{1250};
  /// Time from a GPU's first work to the start of its sampling, if no work waits for that. A program that
  /// ends earlier pays nothing for counters.
  static constexpr std::chrono::milliseconds kStartDelay{100};

  /// `on_refused(user, reason)`: called once, on a sampling thread, when counters are not available, or no
  /// longer; and from pause() and finish() if a GPU had work but no samples. `on_prepared(user)`: called at
  /// most twice, also there, before counters are held. By then CUPTI has registered its exit handlers, so
  /// handlers registered now run before CUPTI's. Also called after load().
  PmSampler(const CuptiLibrary& library, LossLedger& loss, const PmThread::Wanted& wanted,
            void (*on_refused)(void* user, const std::string& reason), void (*on_prepared)(void* user),
            void* user);
  PmSampler(const PmSampler&) = delete;
  PmSampler& operator=(const PmSampler&) = delete;

  /// From the callbacks of a context's creation and destruction.
  void context_created(CUcontext context) noexcept;
  /// Whether begin() is due: sampling has not started for `context`, or not since the last pause. Any
  /// thread.
  [[nodiscard]] bool is_new(CUcontext context) const noexcept;
  /// From the enter callback of that work: starts sampling its GPU. If the sampler waits, so does this call,
  /// 0.5 s (docs/internals/measured.md), and no work runs unsampled. Otherwise the start begins kStartDelay
  /// later on our thread, and work before the first sample has no bytes; this call only waits for load().
  void begin(CUcontext context) noexcept;
  /// From the enter callback of a call that creates a context: loads CUPTI's counter library on our thread
  /// meanwhile, 0.1 s. Does nothing if the sampler waits, or after the first call.
  void begin_loading() noexcept;
  /// From its exit callback. Until the library is loaded, no thread of the program may exit it
  /// (PmSession::load). Waits kBeginPatience at most.
  void wait_until_loaded() noexcept;
  void context_destroyed(CUcontext context) noexcept;
  /// Ends sampling on all GPUs; waits until `deadline`. Before the driver's exit handlers run.
  void finish(std::chrono::steady_clock::time_point deadline) noexcept;

  /// A window ends: stops sampling until resume(), and releases the counters by `deadline` if possible.
  void pause(std::chrono::steady_clock::time_point deadline) noexcept;
  /// A window begins: the next driver calls restart sampling.
  void resume() noexcept;
  /// Whether begin() waits. Before the window's first call.
  void set_waits(bool waits) noexcept { waits_.store(waits); }

  /// Drain thread: passes the records since the last call to `sink`. Records beyond
  /// SampleQueue::kMaxRecords are lost and counted.
  void take(const std::function<void(const PmRecord&)>& sink) { queue_.take(sink); }

  /// CPU time of the sampling threads, and the number of samples they decoded.
  [[nodiscard]] std::uint64_t cpu_ns() const noexcept;
  [[nodiscard]] std::uint64_t samples() const noexcept;

 private:
  struct Context {
    CUcontext context;
    std::uint32_t gpu;
    bool sampled;  // reported to its GPU's thread
    bool begun;    // the first launch has finished waiting; until then all launches wait
  };

  void add(const SamplesRecord& record);
  void refuse(const std::string& reason);
  void load() noexcept;              // loading thread
  void report_too_short() noexcept;  // if sampling has not started on a GPU with work
  void notify_prepared() noexcept;
  [[nodiscard]] PmThread* thread_of(std::uint32_t gpu);  // creates it if needed; under mutex_
  [[nodiscard]] std::vector<Context>::iterator find(CUcontext context) noexcept;  // under mutex_
  void list_new() noexcept;                                                       // under mutex_

  const CuptiLibrary& library_;
  LossLedger& loss_;
  const PmThread::Wanted wanted_;  // of each GPU
  void (*const on_refused_)(void*, const std::string&);
  void (*const on_prepared_)(void*);
  void* const user_;
  std::atomic<bool> refused_{false}, finished_{false}, paused_{false};
  std::atomic<int> prepared_{0};
  std::atomic<bool> begin_timed_out_{false}, waits_{true};
  // Set once, never freed: a sampling thread may outlive the session.
  std::array<std::atomic<PmThread*>, kMaxGpus> threads_{};
  std::mutex mutex_;  // guards contexts_, loading_, loaded_ and additions to threads_
  std::condition_variable loaded_changed_;
  bool loading_ = false, loaded_ = false;
  std::vector<Context> contexts_;
  // Contexts that have not begun, for is_new(). If there are more than fit, every context counts as new.
  std::array<std::atomic<CUcontext>, 16> new_{};
  std::atomic<std::size_t> new_count_{0};
  SampleQueue queue_;
};

}  // namespace rangefinder
