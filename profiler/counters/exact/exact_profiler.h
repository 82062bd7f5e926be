// SPDX-License-Identifier: Apache-2.0
//
// Exact bytes: counter ranges around launches, in every context of the process.
//
//   launch callback, enter ─▶ ExactFilter: measure it? ─▶ the context's lock ─▶ ExactContext::enter
//                    exit  ─▶ ExactContext::leave ─▶ unlock
//   ExactGpus: the configuration of a GPU, and which context holds its counters
//   drain thread ─▶ take(): values; tick(): last batches of contexts that launch nothing
//
// A range contains only its own launch. That serialises the launches of a context, which is
// the cost of this mode (design, rule 2: the only lock that we hold across an application's
// call). No launch waits longer than kPatience for it: it then runs unmeasured. A GPU's
// counters have one user at a time, so its contexts take turns. Nothing is replayed and
// caches stay warm: values are from this very run.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "profiler/counters/exact/exact_batches.h"
#include "profiler/counters/exact/exact_context.h"
#include "profiler/counters/exact/exact_filter.h"
#include "profiler/counters/exact/exact_gpus.h"
#include "profiler/cupti/loader.h"
#include "schema/loss.h"

namespace rangefinder {

class ExactProfiler {
 public:
  static constexpr std::chrono::seconds kPatience{10};
  static constexpr std::size_t kMaxContexts = 64;
  static constexpr std::size_t kMaxGpus = ExactGpus::kMaxGpus;
  /// A context without launches for this long releases the counters.
  static constexpr std::int64_t kQuietNs = 10'000'000'000;

  struct Hooks {
    void* user = nullptr;
    /// Once, from any thread: counters are not available, or no longer.
    void (*refused)(void* user, const std::string& reason) = nullptr;
    /// From a launch: kernel `name` did not end, and opens no range from now on.
    void (*released)(void* user, std::uint32_t name) = nullptr;
    /// Counters are about to be used (ExactGpus::Prepared).
    void (*prepared)(void* user) = nullptr;
  };

  ExactProfiler(const CuptiLibrary& library, Recorder& recorder, const Options& options, const Hooks& hooks);
  ~ExactProfiler();
  ExactProfiler(const ExactProfiler&) = delete;
  ExactProfiler& operator=(const ExactProfiler&) = delete;

  /// A call other than a launch used `context`: starts building its GPU's configuration.
  void note_context(CUcontext context) noexcept;
  /// Before a launch. `measured`: leave() must follow on this thread. Otherwise the launch runs
  /// unmeasured, for the returned reason.
  [[nodiscard]] CounterOutcome enter(const ExactEntry& entry) noexcept;
  /// After the launch. `launch` has no values yet; they come when its batch is decoded.
  void leave(const ExactEntry& entry, ExactLaunch& launch) noexcept;
  /// A launch that could not be measured: written with its reason.
  void add_unmeasured(const ExactLaunch& launch) noexcept { batches_.give(launch); }
  /// A launch after the end of the window: closes the open range before it.
  void exclude(const ExactEntry& entry) noexcept { launch_without_range(find(entry.context), entry, false); }
  /// A captured launch, whose context is unknown, runs without enter(): marks every open range as disturbed.
  void mark_all_disturbed() noexcept;

  /// A stream is about to be captured. Until capturing(false) the GPU and its counters are not touched,
  /// because querying a stream can invalidate a capture (docs/internals/decisions.md).
  void capture_begins(const ExactEntry& entry) noexcept;
  /// After a capture began or ended, or failed to. `any`: a stream is in capture.
  void capturing(bool any) noexcept { capturing_.store(any); }

  /// A stream waits for a value in memory, which work launched later may write.
  void note_wait(const ExactEntry& entry) noexcept;
  void stream_created(CUcontext context) noexcept;
  void stream_destroyed(CUcontext context, CUstream stream) noexcept;
  /// The context is about to be destroyed: its last batch is decoded.
  void context_destroyed(CUcontext context) noexcept;
  /// Delivers the last batches; no range opens afterwards. Before the driver's exit handlers run.
  void finish() noexcept;
  /// A window ends: like finish(), until resume(), and releases the counters. False: some could not be
  /// stopped, because GPU work did not end within `patience`.
  [[nodiscard]] bool pause(std::chrono::milliseconds patience) noexcept;
  /// A window begins. Streams may have been created unnoticed since pause().
  void resume() noexcept;

  /// Drain thread, each period: handles contexts that launch nothing.
  void tick(std::int64_t now_ns) noexcept;
  /// Drain thread: appends the launches measured since the last call to `out`.
  void take(std::vector<ExactLaunch>& out);
  /// Drain thread: configuration of `gpu`; nullptr if there is none.
  [[nodiscard]] CounterConfig* config(std::uint32_t gpu) noexcept { return gpus_.config(gpu); }

  /// Counters were refused for the whole process.
  [[nodiscard]] bool refused() const noexcept { return refused_.load(std::memory_order_relaxed); }
  /// Time that application threads spent in this class, and batches decoded.
  [[nodiscard]] std::uint64_t held_ns() const noexcept { return held_ns_.load(std::memory_order_relaxed); }
  /// Time that they waited for the launch of another thread; part of held_ns().
  [[nodiscard]] std::uint64_t launch_lock_ns() const noexcept {
    return launch_lock_ns_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t batches() const noexcept { return batches_.given(); }

 private:
  [[nodiscard]] ExactContext* find(CUcontext context) noexcept;
  [[nodiscard]] ExactContext* find_or_add(CUcontext context) noexcept;
  /// Takes the context's lock, waits up to kPatience. False: timed out.
  [[nodiscard]] bool lock(ExactContext& context) noexcept;
  [[nodiscard]] CounterOutcome measure(ExactContext& context, const ExactEntry& entry);
  void launch_without_range(ExactContext* context, const ExactEntry& entry, bool may_wait) noexcept;
  /// `forget`: the context is never measured again. False: its counters may still be running.
  bool end(ExactContext& context, std::chrono::milliseconds patience, bool forget) noexcept;
  void tick_context(ExactContext& context, std::int64_t now_ns);
  void refuse(const std::string& reason) noexcept;
  void end_if_failed(ExactContext& context);

  const CuptiLibrary& library_;
  Recorder& recorder_;
  const Options& options_;
  const Hooks hooks_;
  ExactFilter filter_;
  ExactGpus gpus_;
  ExactBatches batches_;
  std::atomic<bool> refused_{false}, finished_{false}, capturing_{false}, late_{false};
  std::atomic<std::uint64_t> held_ns_{0}, launch_lock_ns_{0}, next_range_{1};
  std::mutex contexts_mutex_;  // for adding; entries below context_count_ never change
  std::array<std::unique_ptr<ExactContext>, kMaxContexts> contexts_;
  std::atomic<std::size_t> context_count_{0};
};

}  // namespace rangefinder
