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

#include "profiler/counters/exact_profiler.h"
#include "profiler/counters/pm_sampler.h"
#include "profiler/cupti/loader.h"
#include "profiler/events/recorder.h"
#include "profiler/launch/callback_cost.h"
#include "profiler/launch/driver_apis.h"
#include "profiler/options.h"

namespace rangefinder {

class LaunchCallbacks {
 public:
  struct Hooks {
    void* user = nullptr;
    void (*context_created)(void* user, CUcontext context) = nullptr;
    void (*context_destroyed)(void* user, CUcontext context) = nullptr;  ///< it is about to be
    PmSampler* sampler = nullptr;  ///< told of calls into contexts that it does not sample yet
  };

  /// `exact`: nullptr when no bytes are wanted.
  LaunchCallbacks(const CuptiFunctions& cupti, Recorder& recorder, ExactProfiler* exact,
                  const Hooks& hooks) noexcept
      : cupti_(cupti), recorder_(recorder), exact_(exact), hooks_(hooks) {}

  /// Switches on the callbacks that `options` ask for. False: `cupti` refused one.
  [[nodiscard]] bool enable(CUpti_SubscriberHandle subscriber, const Options& options) noexcept;

  /// For cuptiSubscribe_v2; `self` is a LaunchCallbacks.
  static void CUPTIAPI on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                                   const void* data) noexcept;

  [[nodiscard]] const CallbackCost& cost() const noexcept { return cost_; }

 private:
  // CUPTI keeps one 64-bit word from a call's enter to its exit: the start time. In exact mode
  // its lowest four bits say how the enter went: an Unmeasured, or that counters are not in play.
  static constexpr std::uint64_t kEnteredBits = 15;
  static constexpr std::uint64_t kNotExact = 15;

  [[nodiscard]] static std::int32_t result_of(const CUpti_CallbackData& call) noexcept;
  /// Nothing is recorded any more: only what exact mode still holds is let go, which is the open
  /// range and lock of a launch in progress, and the counters of a context that ends.
  void wind_down(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data) noexcept;
  void on_driver_call(const CUpti_CallbackData& call, int index) noexcept;
  void on_enter(const CUpti_CallbackData& call, const DriverApi& api) noexcept;
  void on_exit(const CUpti_CallbackData& call, const DriverApi& api, int index) noexcept;
  void on_graph_node(const CUpti_GraphData& graph, bool cloned) noexcept;
  void on_resource(CUpti_CallbackId cbid, const CUpti_ResourceData& data) noexcept;
  void emit_launch(ThreadState& state, const CUpti_CallbackData& call, const DriverApi& api,
                   Event& event) noexcept;
  /// What exact mode keeps of a call's enter in the low bits of its start time.
  [[nodiscard]] std::uint64_t enter_exact(const CUpti_CallbackData& call, const DriverApi& api,
                                          std::int64_t now_ns) noexcept;
  void tell_exact(const CUpti_CallbackData& call, const DriverApi& api, std::int64_t now_ns) noexcept;
  [[nodiscard]] ExactEntry exact_entry(const CUpti_CallbackData& call, const DriverApi& api,
                                       std::int64_t now_ns) noexcept;
  void emit_exact(ThreadState* state, const CUpti_CallbackData& call, const DriverApi& api, Event& event,
                  Unmeasured entered) noexcept;
  void emit_memory(ThreadState& state, const DriverApi& api, Event& event,
                   const ApiArguments& arguments) noexcept;
  void emit_other(ThreadState& state, const CUpti_CallbackData& call, const DriverApi& api,
                  Event& event) noexcept;
  [[nodiscard]] std::uint32_t stream_id(const CUpti_CallbackData& call, const DriverApi& api,
                                        const ApiArguments& arguments) const noexcept;

  const CuptiFunctions& cupti_;
  Recorder& recorder_;
  ExactProfiler* const exact_;
  const Hooks hooks_;
  const pid_t pid_ = getpid();
  std::atomic<std::int32_t> capturing_{0};  // streams of the process that are being captured
  CallbackCost cost_;
};

}  // namespace rangefinder
