// SPDX-License-Identifier: Apache-2.0
//
// What CUPTI calls on the application's threads: driver API callbacks and the
// creation and destruction of contexts.
//
//   cuLaunchKernel enter ─▶ note the time        exact mode: open a counter range
//                  exit  ─▶ Event{path, range, t0, t1} into the thread's ring
//
// Rules of the house (design, rule 2): nothing is allocated after warm-up, no lock is
// taken that another thread holds over a call, no I/O. Never throws.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "profiler/counters/exact/exact_profiler.h"
#include "profiler/counters/sampling/pm_sampler.h"
#include "profiler/cupti/loader.h"
#include "profiler/events/recorder.h"
#include "profiler/launch/callback_cost.h"
#include "profiler/launch/calls_in_progress.h"
#include "profiler/launch/driver_apis.h"
#include "profiler/options/options.h"

namespace rangefinder {

class LaunchCallbacks {
 public:
  struct Hooks {
    void* user = nullptr;
    void (*context_created)(void* user, CUcontext context) = nullptr;
    void (*context_destroyed)(void* user, CUcontext context) = nullptr;  ///< it is about to be
    /// cuProfilerStart has returned, or cuProfilerStop is about to begin; with enable_profiler_calls().
    void (*profiler_call)(void* user, bool start) = nullptr;
  };

  LaunchCallbacks(const CuptiFunctions& cupti, Recorder& recorder, const Hooks& hooks) noexcept
      : cupti_(cupti), recorder_(recorder), hooks_(hooks), calls_in_progress_(recorder.threads) {}

  /// Who measures what is launched from now on; nullptr: nobody. An object that was once given here is
  /// never destroyed: a call may be under way. `late`: contexts may exist that nobody was told of.
  void set_counters(ExactProfiler* exact, PmSampler* sampler, bool late) noexcept;

  /// These switch callbacks on and off. False: `cupti` refused one.
  /// Contexts, modules that go, and the nodes of graphs: what must be known of the time before a window.
  [[nodiscard]] bool enable_resources(CUpti_SubscriberHandle subscriber) noexcept;
  /// cuProfilerStart and cuProfilerStop.
  [[nodiscard]] bool enable_profiler_calls(CUpti_SubscriberHandle subscriber) noexcept;
  /// What `options` ask for; `exact`: with what exact counters must know.
  [[nodiscard]] bool enable_calls(CUpti_SubscriberHandle subscriber, const Options& options,
                                  bool exact) noexcept;
  /// All but those that some thread is in. True: all were off before it was asked; then no thread is on its
  /// way into our callbacks either, if some ms have passed, and the subscriber may go.
  [[nodiscard]] bool disable_calls(CUpti_SubscriberHandle subscriber) noexcept;

  /// For cuptiSubscribe_v2; `self` is a LaunchCallbacks.
  static void CUPTIAPI on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                                   const void* data) noexcept;

  [[nodiscard]] const CallbackCost& cost() const noexcept { return cost_; }

 private:
  // CUPTI keeps one 64-bit word from a call's enter to its exit: the time of the enter since
  // base_ns_, and in its lowest four bits how the enter went: an CounterOutcome and 1, or that counters
  // are not in play, or 0, which is no enter of ours: callbacks were switched on during the call.
  static constexpr int kEnteredBits = 4;
  static constexpr std::uint64_t kNotExact = 15;
  [[nodiscard]] std::uint64_t word_of(std::int64_t now_ns, std::uint64_t entered) const noexcept {
    return static_cast<std::uint64_t>(now_ns - base_ns_) << kEnteredBits | entered;
  }
  [[nodiscard]] static std::uint64_t entered_of(std::uint64_t word) noexcept {
    return word & ((1U << kEnteredBits) - 1);
  }

  [[nodiscard]] static std::int32_t result_of(const CUpti_CallbackData& call) noexcept;
  /// Nothing is recorded any more: only what exact mode still holds is let go, which is the open
  /// range and lock of a launch in progress, and the counters of a context that ends.
  void wind_down(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data) noexcept;
  void on_driver_call(const CUpti_CallbackData& call, int index) noexcept;
  void on_profiler_call(const CUpti_CallbackData& call, CUpti_CallbackId cbid) noexcept;
  void on_enter(const CUpti_CallbackData& call, const DriverApi& api, int index) noexcept;
  void on_exit(const CUpti_CallbackData& call, const DriverApi& api, int index) noexcept;
  void emit(const ThreadUse& use, const CUpti_CallbackData& call, const DriverApi& api, int index) noexcept;
  void on_graph_node(const CUpti_GraphData& graph, bool cloned) noexcept;
  void on_resource(CUpti_CallbackId cbid, const CUpti_ResourceData& data) noexcept;
  /// The kernel's name as an id, where CUPTI's record of it may have another's; else 0.
  [[nodiscard]] std::uint32_t kernel_name(ThreadState& state, const CUpti_CallbackData& call) const noexcept;
  void emit_launch(ThreadState& state, const CUpti_CallbackData& call, const DriverApi& api,
                   Event& event) noexcept;
  /// What exact mode keeps of a call's enter in the low bits of its start time.
  [[nodiscard]] std::uint64_t enter_exact(ExactProfiler& exact, const CUpti_CallbackData& call,
                                          const DriverApi& api, std::int64_t now_ns) noexcept;
  void notify_exact(ExactProfiler& exact, const CUpti_CallbackData& call, const DriverApi& api,
                    std::int64_t now_ns) noexcept;
  /// In a window that began late: tells the counters of contexts that were there before.
  void find_context(const CUpti_CallbackData& call) noexcept;
  [[nodiscard]] ExactEntry exact_entry(const CUpti_CallbackData& call, const DriverApi& api,
                                       std::int64_t now_ns) noexcept;
  void emit_exact(ThreadState* state, const CUpti_CallbackData& call, const DriverApi& api, Event& event,
                  CounterOutcome entered) noexcept;
  void emit_memory(ThreadState& state, const DriverApi& api, Event& event,
                   const ApiArguments& arguments) noexcept;
  void emit_other(ThreadState& state, const CUpti_CallbackData& call, const DriverApi& api,
                  Event& event) noexcept;
  [[nodiscard]] std::uint32_t stream_id(const CUpti_CallbackData& call, const DriverApi& api,
                                        const ApiArguments& arguments) const noexcept;

  const CuptiFunctions& cupti_;
  Recorder& recorder_;
  const Hooks hooks_;
  const std::int64_t base_ns_ = clock_now_ns();
  CallsInProgress calls_in_progress_;
  std::atomic<CUpti_SubscriberHandle> subscriber_{nullptr};
  CallsInProgress::Calls enabled_calls_;             // one thread at a time
  std::atomic<ExactProfiler*> exact_{nullptr};       // of this window
  std::atomic<ExactProfiler*> ever_exact_{nullptr};  // whom a call that is under way may have entered
  std::atomic<PmSampler*> sampler_{nullptr};
  // CUPTI names a kernel after the first that it saw at the same handle, and handles of modules that are gone
  // are used again (tests/bench/unloaded_names.cpp). A launch's callback has the right name.
  std::atomic<bool> handles_used_again_{false};
  bool enabled_before_ = false;  // one thread at a time
  std::atomic<bool> finds_contexts_{false};
  std::atomic<std::uint64_t> found_contexts_{0};  // by the lowest bits of their ids
  const pid_t pid_ = getpid();
  std::atomic<std::int32_t> capturing_{0};  // streams of the process that are being captured
  CallbackCost cost_;
};

}  // namespace rangefinder
