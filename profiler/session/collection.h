// SPDX-License-Identifier: Apache-2.0
//
// Owns our use of CUPTI: what is switched on, and in which order it is switched on and off.
//
//   nothing ── hold() ──▶ held ── begin() ──▶ collecting ── quiesce() ──▶ last records ── end() ─┐
//      ▲                   │ ▲                                                                    │
//      └──── release() ────┘ └────────────────────────────────────────────────────────────────────┘
//
// held: subscribed, with callbacks for contexts and graphs only; no records.
// Knows no files and no windows. One thread at a time, as the session ensures. Its parts are
// never destroyed, because an application call may be inside them at any time.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "profiler/activity/buffer_pool.h"
#include "profiler/counters/exact/exact_profiler.h"
#include "profiler/counters/sampling/pm_sampler.h"
#include "profiler/cupti/loader.h"
#include "profiler/launch/launch_callbacks.h"
#include "profiler/options/options.h"

namespace rangefinder {

class Collection {
 public:
  struct Hooks {
    void* user = nullptr;
    void (*context_created)(void* user, CUcontext context) = nullptr;
    void (*context_destroyed)(void* user, CUcontext context) = nullptr;
    void (*profiler_call)(void* user, bool start) = nullptr;
    void (*synchronised)(void* user) = nullptr;  ///< see report_waits()
    void (*counters_refused)(void* user, const std::string& reason) = nullptr;
    /// Counters are about to be used: exit handlers registered from now on run before CUPTI's own.
    void (*counters_prepared)(void* user) = nullptr;
  };

  Collection(const Options& options, const Hooks& hooks) : options_(options), hooks_(hooks) {}

  /// Finds and loads libcupti. Does nothing after the first success. False: `error`.
  [[nodiscard]] bool load(std::string& error);
  /// Subscribes. `profiler_calls`: also to cuProfilerStart and cuProfilerStop. False: `error`.
  [[nodiscard]] bool hold(bool profiler_calls, std::string& error);
  /// Switches records and callbacks of calls on. `late`: contexts may exist, and work may be on the GPU.
  /// False: `error`, and no more is switched on than before.
  /// `requested`: by name, not by `auto`; then work waits for sampling to start.
  [[nodiscard]] bool begin(CounterMode counters, bool requested, bool late, std::string& error);
  /// LaunchCallbacks::report_waits()
  void report_waits(std::int64_t until_ns) noexcept {
    if (callbacks_) callbacks_->report_waits(until_ns);
  }
  /// Of the last begin().
  [[nodiscard]] bool requested() const noexcept { return requested_; }
  /// Stops new records, and releases the counters. Callbacks stay on, so that calls in progress end orderly.
  void quiesce();
  /// Switches callbacks of calls off, except for threads that are in a call. False: there are or were such
  /// threads; call again in some ms.
  [[nodiscard]] bool end();
  /// Unsubscribes, so that another tool can use CUPTI; leaves CUPTI as it was. Call after end() has
  /// succeeded: otherwise a thread that is in a call would keep one correlation id for good
  /// (calls_in_progress.h).
  void release();
  /// Calls end(), for half a second at most, then release(). A thread that stays in its call for longer keeps
  /// one correlation id, also in the records of the next tool.
  void give_up();
  /// Call when the process exits: stops counters before the driver's exit handlers run.
  void finish(std::chrono::steady_clock::time_point deadline) noexcept;

  /// Changes the metrics of exact counters from the next begin() on. False: changed too often in this
  /// process.
  [[nodiscard]] bool set_metrics(const std::string& metrics);

  /// loaded() and held(): any thread.
  [[nodiscard]] bool loaded() const noexcept { return loaded_.load(std::memory_order_acquire); }
  [[nodiscard]] bool held() const noexcept { return held_.load(std::memory_order_acquire); }
  [[nodiscard]] const CuptiLibrary& cupti() const noexcept { return cupti_; }
  [[nodiscard]] BufferPool* buffers() const noexcept { return buffers_.get(); }
  /// Counters of the window that begin() opened; nullptr if it uses no such counters.
  [[nodiscard]] ExactProfiler* exact() const noexcept { return exact_on_ ? exact_.get() : nullptr; }
  [[nodiscard]] PmSampler* sampler() const noexcept { return sampler_on_ ? sampler_.get() : nullptr; }
  [[nodiscard]] PmSampler* any_sampler() const noexcept { return sampler_.get(); }
  /// After load().
  [[nodiscard]] const CallbackCost& callback_cost() const noexcept { return callbacks_->cost(); }
  [[nodiscard]] std::string metrics() const { return counter_options_->metrics; }

 private:
  [[nodiscard]] bool subscribe(std::string& error);
  [[nodiscard]] bool enable(bool late, std::string& error);
  void make_exact();
  void make_sampler();
  void use_counters(CounterMode counters, bool requested, bool late);
  void discard_buffers();

  /// Maximum number of changes: each leaks an ExactProfiler, which cannot be destroyed.
  static constexpr int kMaxMetricChanges = 8;

  const Options& options_;
  std::unique_ptr<Options> counter_options_ = std::make_unique<Options>(options_);
  const Hooks hooks_;
  CuptiLibrary cupti_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::unique_ptr<BufferPool> buffers_;
  std::unique_ptr<LaunchCallbacks> callbacks_;
  std::unique_ptr<ExactProfiler> exact_;
  std::unique_ptr<PmSampler> sampler_;
  bool exact_on_ = false, sampler_on_ = false, profiler_calls_ = false, requested_ = false;
  int metric_changes_ = 0;
  std::atomic<bool> loaded_{false}, held_{false};
};

}  // namespace rangefinder
