// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's callbacks on the application's threads: driver API calls, and the creation
// and destruction of contexts.
//
//   cuLaunchKernel enter ─▶ store the time       exact mode: open a counter range
//                  exit  ─▶ Event{path, range, t0, t1} into the thread's ring
//
// Rules (design, rule 2): no allocation after warm-up, no lock that another thread
// holds across a call, no I/O. Never throws.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "profiler/cupti/loader.h"
#include "profiler/events/recorder.h"
#include "profiler/launch/callback_cost.h"
#include "profiler/launch/calls_in_progress.h"
#include "profiler/launch/driver_apis.h"
#include "profiler/launch/exact_calls.h"
#include "profiler/launch/graph_callbacks.h"
#include "profiler/options/options.h"

namespace rangefinder {

class PmSampler;

class LaunchCallbacks {
 public:
  struct Hooks {
    void* user = nullptr;
    void (*context_created)(void* user, CUcontext context) = nullptr;
    void (*context_destroyed)(void* user, CUcontext context) = nullptr;  ///< about to be destroyed
    /// cuProfilerStart has returned, or cuProfilerStop is about to begin. Needs enable_profiler_calls().
    void (*profiler_call)(void* user, bool start) = nullptr;
    /// A call that waits for the GPU has returned. See report_waits().
    void (*synchronised)(void* user) = nullptr;
  };

  LaunchCallbacks(const CuptiFunctions& cupti, Recorder& recorder, const Hooks& hooks) noexcept
      : cupti_(cupti),
        recorder_(recorder),
        hooks_(hooks),
        calls_in_progress_(recorder.threads),
        graphs_(cupti, recorder),
        exact_(recorder) {}

  /// Measures later launches with these; nullptr: with none. Objects passed here are never destroyed,
  /// because a call may be in progress. `late`: contexts may exist that had no creation callback.
  void set_counters(ExactProfiler* exact, PmSampler* sampler, bool late) noexcept;
  /// Hooks::synchronised is called for calls that return before `until_ns`, CLOCK_REALTIME.
  void report_waits(std::int64_t until_ns) noexcept {
    waits_until_ns_.store(until_ns, std::memory_order_relaxed);
  }

  // These enable and disable callbacks. False: `cupti` refused one.
  /// Contexts, module unloads and graphs: needed also before a window begins.
  [[nodiscard]] bool enable_resources(CUpti_SubscriberHandle subscriber) noexcept;
  /// cuProfilerStart and cuProfilerStop.
  [[nodiscard]] bool enable_profiler_calls(CUpti_SubscriberHandle subscriber) noexcept;
  /// The calls that `options` request; `exact`: also those that exact counters need.
  [[nodiscard]] bool enable_calls(CUpti_SubscriberHandle subscriber, const Options& options,
                                  bool exact) noexcept;
  /// Disables all callbacks except those of calls that a thread is in. True: all were disabled before this
  /// call. Then, some ms later, no thread can still be entering our callbacks: unsubscribing is safe.
  [[nodiscard]] bool disable_calls(CUpti_SubscriberHandle subscriber) noexcept;

  /// For cuptiSubscribe_v2. `self` is a LaunchCallbacks.
  static void CUPTIAPI on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                                   const void* data) noexcept;

  /// See GraphCallbacks.
  void record_device_launches(bool recorded) noexcept { graphs_.record_device_launches(recorded); }

  [[nodiscard]] const CallbackCost& cost() const noexcept { return cost_; }

 private:
  // CUPTI keeps one 64-bit word from a call's enter to its exit. The upper bits hold the time of the enter
  // since base_ns_. The lowest four bits hold CounterOutcome + 1, or ExactCalls::kNotExact if no counters are
  // involved. 0 means that our enter callback did not run: callbacks were enabled during the call.
  static constexpr int kEnteredBits = 4;
  [[nodiscard]] std::uint64_t word_of(std::int64_t now_ns, std::uint64_t entered) const noexcept {
    return static_cast<std::uint64_t>(now_ns - base_ns_) << kEnteredBits | entered;
  }
  [[nodiscard]] static std::uint64_t entered_of(std::uint64_t word) noexcept {
    return word & ((1U << kEnteredBits) - 1);
  }

  [[nodiscard]] static std::int32_t result_of(const CUpti_CallbackData& call) noexcept;
  /// Recording has ended. Releases only what exact mode still holds: the open range and lock of a launch
  /// in progress, and the counters of a context that is destroyed.
  void wind_down(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data) noexcept;
  void on_driver_call(const CUpti_CallbackData& call, CUpti_CallbackId cbid) noexcept;
  void on_untraced_call(const CUpti_CallbackData& call, CUpti_CallbackId cbid) noexcept;
  void on_profiler_call(const CUpti_CallbackData& call, CUpti_CallbackId cbid) noexcept;
  void on_enter(const CUpti_CallbackData& call, const DriverApi& api, int index) noexcept;
  /// The call's callback must not be disabled until on_exit(). Enables it if it was.
  void begin_call(ThreadState* state, int index) noexcept;
  void start_sampling(const CUpti_CallbackData& call, const DriverApi& api) noexcept;
  /// A window that ends now waits for this launch (Session::finish_window).
  void begin_work(ThreadState& state, const CUpti_CallbackData& call, const DriverApi& api,
                  std::int64_t now_ns) noexcept;
  void on_exit(const CUpti_CallbackData& call, const DriverApi& api, int index) noexcept;
  /// The part of the event that does not depend on its kind.
  [[nodiscard]] Event event_of(const ThreadState* state, const CUpti_CallbackData& call, const DriverApi& api,
                               int index) const noexcept;
  void emit(const ThreadUse& use, const CUpti_CallbackData& call, const DriverApi& api, int index) noexcept;
  void on_resource(CUpti_CallbackId cbid, const CUpti_ResourceData& data) noexcept;
  /// Id of the kernel's name if CUPTI's record may carry another kernel's name; else 0.
  [[nodiscard]] std::uint32_t kernel_name(ThreadState& state, const CUpti_CallbackData& call) const noexcept;
  void emit_launch(ThreadState& state, const CUpti_CallbackData& call, const DriverApi& api,
                   Event& event) noexcept;
  /// Notes in the event what a launch of a graph launched.
  void note_launched_graph(const CUpti_CallbackData& call, const DriverApi& api, Event& event) noexcept;
  /// In a window that began late: reports contexts that existed before it to the sampler.
  void find_context(PmSampler& sampler, const CUpti_CallbackData& call) noexcept;
  void emit_exact(const ThreadUse& use, const CUpti_CallbackData& call, const DriverApi& api, Event& event,
                  CounterOutcome outcome) noexcept;
  void report_wait(const DriverApi& api) noexcept;
  void watch_queries(bool watch) noexcept;
  void on_query(const CUpti_CallbackData& call, int index) noexcept;
  void emit_capture(ThreadState& state, const DriverApi& api, Event& event,
                    const ApiArguments& arguments) noexcept;
  void emit_broken_capture(ThreadState& state, const CUpti_CallbackData& call, Event& event) noexcept;
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
  GraphCallbacks graphs_;
  ExactCalls exact_;
  std::atomic<CUpti_SubscriberHandle> subscriber_{nullptr};
  CallsInProgress::Calls enabled_calls_;  // one thread at a time
  std::atomic<PmSampler*> sampler_{nullptr};
  // CUPTI caches a kernel's name by its handle, and the driver reuses handles of unloaded modules
  // (measured with CUPTI 13.0). The launch callback has the right name.
  std::atomic<bool> handles_reused_{false};
  bool enabled_before_ = false;  // one thread at a time
  std::atomic<bool> finds_contexts_{false};
  std::atomic<std::int64_t> waits_until_ns_{0};
  std::atomic<bool> watches_queries_{false};
  bool events_ = false;                           // Options::events
  std::atomic<std::uint64_t> found_contexts_{0};  // by the lowest six bits of their ids
  const pid_t pid_ = getpid();
  std::atomic<std::int32_t> capturing_{0};  // streams of the process in capture
  CallbackCost cost_;
};

}  // namespace rangefinder
