// SPDX-License-Identifier: Apache-2.0
//
// Driver calls in exact mode: opens a counter range before a launch, and gives the launch to the batches
// after it.
//
//   enter ─▶ ExactProfiler::enter()    a CounterOutcome, kept in the call's word (LaunchCallbacks)
//   exit  ─▶ ExactProfiler::leave(), or the reason why it was not measured
//
// Same rules as LaunchCallbacks.
#pragma once

#include <atomic>
#include <cstdint>

#include "profiler/counters/exact/exact_profiler.h"
#include "profiler/events/recorder.h"
#include "profiler/launch/driver_apis.h"

namespace rangefinder {

class ExactCalls {
 public:
  explicit ExactCalls(Recorder& recorder) noexcept : recorder_(recorder) {}

  /// Measures later launches with it; nullptr: none. Never destroyed, because a call may be in progress.
  void set(ExactProfiler* exact) noexcept;

  /// A call begins. CounterOutcome + 1, or kNotExact: leave() does not follow. `capturing`: a stream of the
  /// process is in capture.
  static constexpr std::uint64_t kNotExact = 15;
  [[nodiscard]] std::uint64_t enter(const CUpti_CallbackData& call, const DriverApi& api, std::int64_t now_ns,
                                    bool capturing) noexcept;
  /// A launch has returned. `event`: of it, complete. `by_name`: CUPTI's record may carry another kernel's
  /// name.
  void leave(const ThreadUse& use, const CUpti_CallbackData& call, const DriverApi& api, Event event,
             CounterOutcome outcome, bool by_name) noexcept;
  /// After a capture began or ended. `any`: a stream is in capture.
  void capturing(bool any) noexcept;
  void context_destroyed(CUcontext context) noexcept;
  /// A call in progress may have a counter range.
  [[nodiscard]] bool ever_used() const noexcept {
    return ever_exact_.load(std::memory_order_acquire) != nullptr;
  }

 private:
  [[nodiscard]] std::uint64_t enter_launch(ExactProfiler& exact, const CUpti_CallbackData& call,
                                           const DriverApi& api, std::int64_t now_ns,
                                           bool capturing) noexcept;
  void notify(ExactProfiler& exact, const CUpti_CallbackData& call, const DriverApi& api,
              std::int64_t now_ns) noexcept;
  [[nodiscard]] ExactEntry entry_of(const CUpti_CallbackData& call, const DriverApi& api,
                                    std::int64_t now_ns) noexcept;

  Recorder& recorder_;
  std::atomic<ExactProfiler*> exact_{nullptr};       // of this window
  std::atomic<ExactProfiler*> ever_exact_{nullptr};  // a call in progress may have entered it
};

}  // namespace rangefinder
