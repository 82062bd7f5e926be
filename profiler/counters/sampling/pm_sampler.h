// SPDX-License-Identifier: Apache-2.0
//
// Sampled mode: DRAM, L2 and link traffic of whole GPUs every few microseconds, without
// touching the application's launches.
//
//   contexts with work ─▶ PmThread, one a GPU ─▶ queue ─▶ take() ─▶ drain thread ─▶ `samples` lines
//
// Which path the bytes belong to is worked out elsewhere, by time (attribution/). Where
// the driver refuses counters, tracing goes on without them. A GPU is sampled from the first
// work on it: of several processes each may have a context on the first GPU, and no more than
// that, and a GPU's counters serve one process at a time.
#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <chrono>
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
  /// A thread that ends the last context of a GPU waits so long for its counters to be free.
  static constexpr std::chrono::milliseconds kContextPatience{1000};
  /// The first work of a context waits so long for its GPU to be sampled, until one has waited in vain: none
  /// is while that thread has the loader's lock.
  static constexpr std::chrono::milliseconds kBeginPatience{1250};

  /// `on_refused(user, reason)`: called once, on a sampling thread, when counters cannot be had, or
  /// not any more. `on_prepared(user)`: called once, there too, before counters are held: CUPTI has
  /// registered its exit handlers by then, and whoever must come before them can.
  PmSampler(const CuptiLibrary& library, LossLedger& loss, const PmThread::Wanted& wanted,
            void (*on_refused)(void* user, const std::string& reason), void (*on_prepared)(void* user),
            void* user);
  PmSampler(const PmSampler&) = delete;
  PmSampler& operator=(const PmSampler&) = delete;

  /// From the callbacks of a context's creation, and before its end.
  void context_created(CUcontext context) noexcept;
  /// Work in `context` is the first since sampling was last off there, or sampling has not begun yet: begin()
  /// is due. Any thread.
  [[nodiscard]] bool is_new(CUcontext context) const noexcept;
  /// From the callback before that work is launched: sampling of its GPU begins, and the call waits
  /// for it, 0.5 s (docs/measured.md). So nothing runs unsampled, and no program exits while CUPTI
  /// sets up counters on another thread, which ends in a crash of the driver.
  void begin(CUcontext context) noexcept;
  void context_destroyed(CUcontext context) noexcept;
  /// Ends sampling everywhere; waits for it until `deadline`. Before the driver's own exit handlers run.
  void finish(std::chrono::steady_clock::time_point deadline) noexcept;

  /// A window ends: no sampling until resume(), and counters are free, or `deadline` has passed.
  void pause(std::chrono::steady_clock::time_point deadline) noexcept;
  /// A window begins: the next driver call finds GPUs to sample.
  void resume() noexcept;

  /// Drain thread: gives `sink` what was sampled since the last call. What waits beyond
  /// SampleQueue::kMaxRecords is lost and counted.
  void take(const std::function<void(const PmRecord&)>& sink) { queue_.take(sink); }

  /// CPU time of the sampling threads, and the samples they decoded.
  [[nodiscard]] std::uint64_t cpu_ns() const noexcept;
  [[nodiscard]] std::uint64_t samples() const noexcept;

 private:
  struct Context {
    CUcontext context;
    std::uint32_t gpu;
    bool sampled;  // its GPU's thread knows of it
    bool begun;    // and whoever launched first has waited: until then all others wait too
  };

  void add(const SamplesRecord& record);
  void refuse(const std::string& reason);
  void notify_prepared() noexcept;
  [[nodiscard]] PmThread* thread_of(std::uint32_t gpu);  // makes one if need be; with mutex_
  [[nodiscard]] std::vector<Context>::iterator find(CUcontext context) noexcept;  // with mutex_
  void list_new() noexcept;                                                       // with mutex_

  const CuptiLibrary& library_;
  LossLedger& loss_;
  const PmThread::Wanted wanted_;  // of each GPU
  void (*const on_refused_)(void*, const std::string&);
  void (*const on_prepared_)(void*);
  void* const user_;
  std::atomic<bool> refused_{false}, prepared_{false}, finished_{false}, paused_{false};
  std::atomic<bool> waited_in_vain_{false};
  // Set once, never freed: a sampling thread may outlive the session.
  std::array<std::atomic<PmThread*>, kMaxGpus> threads_{};
  std::mutex mutex_;  // for adding to threads_, and over contexts_
  std::vector<Context> contexts_;
  // Of these, for is_new(): those that have not begun. More than there is room for: any may be one.
  std::array<std::atomic<CUcontext>, 16> new_{};
  std::atomic<std::size_t> new_count_{0};
  SampleQueue queue_;
};

}  // namespace rangefinder
