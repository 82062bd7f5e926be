// SPDX-License-Identifier: Apache-2.0
//
// Exact bytes: counter ranges around launches, in every context of the process.
//
//   launch callback, enter ─▶ ExactFilter: measure it? ─▶ the context's lock ─▶ ExactContext::enter
//                    exit  ─▶ ExactContext::leave ─▶ unlock
//   ExactGpus: the configuration of a GPU, and whose turn it is
//   drain thread ─▶ take(): values; tick(): last batches of contexts that launch nothing
//
// A range holds its launch and nothing else; that serialises launches into one context,
// which is what this mode costs (design, rule 2: the one lock that we hold over a call of
// the application). Nobody waits longer than kPatience for it: a launch that cannot be
// measured goes on without. A GPU has one user of its counters at a time, so its contexts
// take turns. Nothing is replayed and caches stay warm: values are of this very run.
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
  /// A context without launches for so long gives the counters free.
  static constexpr std::int64_t kQuietNs = 10'000'000'000;

  struct Hooks {
    void* user = nullptr;
    /// Once, from any thread: counters cannot be had, or not any more.
    void (*refused)(void* user, const std::string& reason) = nullptr;
    /// From a launch: `name` is a kernel that did not end, and opens no range from now on.
    void (*released)(void* user, std::uint32_t name) = nullptr;
  };

  ExactProfiler(const CuptiLibrary& library, Recorder& recorder, const Options& options, const Hooks& hooks);
  ~ExactProfiler();
  ExactProfiler(const ExactProfiler&) = delete;
  ExactProfiler& operator=(const ExactProfiler&) = delete;

  /// A call that is no launch went into `context`: its GPU's configuration may be built meanwhile.
  void note_context(CUcontext context) noexcept;
  /// Before a launch. no: leave() must follow on this thread; otherwise the launch goes on
  /// unmeasured, for this reason.
  [[nodiscard]] CounterOutcome enter(const ExactEntry& entry) noexcept;
  /// After it. `launch` without values; they are found when its batch is decoded.
  void leave(const ExactEntry& entry, ExactLaunch& launch) noexcept;
  /// A launch that could not be measured: written with the reason.
  void pass(const ExactLaunch& launch) noexcept { batches_.give(launch); }
  /// A launch that comes when the window has ended: what was measured before it is closed first.
  void exclude(const ExactEntry& entry) noexcept { skip_past(find(entry.context), entry, false); }
  /// A launch of which nobody knows where it will run goes by without enter(): what is being
  /// measured meanwhile is not measured alone.
  void skip() noexcept;

  /// A stream is about to be captured: the GPU and its counters are left alone until capturing(false),
  /// since asking for the state of a stream can spoil a capture (docs/decisions.md).
  void capture_begins(const ExactEntry& entry) noexcept;
  /// After a capture began or ended, or failed to.
  void capturing(bool any) noexcept { capturing_.store(any); }

  /// A stream is made to wait for a value in memory, which may come from work launched later.
  void note_wait(const ExactEntry& entry) noexcept;
  void stream_created(CUcontext context) noexcept;
  void stream_destroyed(CUcontext context, CUstream stream) noexcept;
  /// The context is about to be destroyed: its last batch is decoded.
  void context_destroyed(CUcontext context) noexcept;
  /// Last batches; no range is opened afterwards. Before the driver's own exit handlers run.
  void finish() noexcept;
  /// A window ends: the same, until resume(), and counters are free. False: some could not be stopped, for
  /// work on the GPU did not end within `patience`.
  [[nodiscard]] bool pause(std::chrono::milliseconds patience) noexcept;
  /// A window begins. What happened meanwhile is not known: streams may have been made.
  void resume() noexcept;

  /// Drain thread, often: looks after contexts that launch nothing.
  void tick(std::int64_t now_ns) noexcept;
  /// Drain thread: moves what was measured since the last call to `out` (appends).
  void take(std::vector<ExactLaunch>& out);
  /// Drain thread: of `gpu`; nullptr if there is none.
  [[nodiscard]] CounterConfig* config(std::uint32_t gpu) noexcept { return gpus_.config(gpu); }

  /// Counters were refused for the whole process.
  [[nodiscard]] bool refused() const noexcept { return refused_.load(std::memory_order_relaxed); }
  /// Time application threads spent in here, and batches decoded.
  [[nodiscard]] std::uint64_t held_ns() const noexcept { return held_ns_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t batches() const noexcept { return batches_.given(); }

 private:
  [[nodiscard]] ExactContext* find(CUcontext context) noexcept;
  [[nodiscard]] ExactContext* find_or_add(CUcontext context) noexcept;
  [[nodiscard]] CounterOutcome measure(ExactContext& context, const ExactEntry& entry);
  void skip_past(ExactContext* context, const ExactEntry& entry, bool may_wait) noexcept;
  /// `forget`: the context will not be measured again. False: its counters may still run.
  bool end(ExactContext& context, std::chrono::milliseconds patience, bool forget) noexcept;
  void look_after(ExactContext& context, std::int64_t now_ns);
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
  std::atomic<std::uint64_t> held_ns_{0}, next_range_{1};
  std::mutex contexts_mutex_;  // for adding one; those below context_count_ never change
  std::array<std::unique_ptr<ExactContext>, kMaxContexts> contexts_;
  std::atomic<std::size_t> context_count_{0};
};

}  // namespace rangefinder
