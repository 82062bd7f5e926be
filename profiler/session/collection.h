// SPDX-License-Identifier: Apache-2.0
//
// What of CUPTI is switched on, and in which order it is switched on and off.
//
//   nothing ── hold() ──▶ held ── begin() ──▶ collecting ── quiesce() ──▶ last records ── end() ─┐
//      ▲                   │ ▲                                                                    │
//      └──── release() ────┘ └────────────────────────────────────────────────────────────────────┘
//
// held: subscribed, told of contexts and of graph nodes, no record and no call. Knows no
// files and no windows; the session's one caller at a time. What it made stays for good,
// for a call of the application may be inside of it at any time.
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
    void (*counters_refused)(void* user, const std::string& reason) = nullptr;
    /// Counters are about to be held: exit handlers registered from now on come before CUPTI's own.
    void (*counters_prepared)(void* user) = nullptr;
  };

  Collection(const Options& options, const Hooks& hooks) : options_(options), hooks_(hooks) {}

  /// Finds and loads libcupti; once it succeeded it is done. False: `error`.
  [[nodiscard]] bool load(std::string& error);
  /// Subscribes. `profiler_calls`: cuProfilerStart and cuProfilerStop are told. False: `error`.
  [[nodiscard]] bool hold(bool profiler_calls, std::string& error);
  /// Records and calls, from now on. `late`: contexts may exist, and work may be on the GPU. False: `error`,
  /// and nothing but what was held is switched on.
  [[nodiscard]] bool begin(CounterMode counters, bool late, std::string& error);
  /// No new records, and counters are free. Calls are still told: those under way end orderly.
  void quiesce();
  /// No more calls, but for those that threads are in now. False: there are such, or were; to be asked again
  /// in some ms.
  [[nodiscard]] bool end();
  /// Gives CUPTI up: another tool may have it, and finds it as it was. After end() has succeeded: a thread
  /// that is in a call would have one correlation id for ever (calls_in_progress.h).
  void release();
  /// The same at once, after half a second at most: a thread that stays in its call for longer has one id in
  /// the records of whoever comes next.
  void give_up();
  /// The process ends: counters are stopped before the driver's exit handlers run.
  void finish(std::chrono::steady_clock::time_point deadline) noexcept;

  /// Other metrics for exact counters, from the next begin() on. False: too many changes in one process.
  [[nodiscard]] bool set_metrics(const std::string& metrics);

  /// Any thread, these two.
  [[nodiscard]] bool loaded() const noexcept { return loaded_.load(std::memory_order_acquire); }
  [[nodiscard]] bool held() const noexcept { return held_.load(std::memory_order_acquire); }
  [[nodiscard]] const CuptiLibrary& cupti() const noexcept { return cupti_; }
  [[nodiscard]] BufferPool* buffers() const noexcept { return buffers_.get(); }
  /// Of the window that begin() opened; nullptr where it has no such counters.
  [[nodiscard]] ExactProfiler* exact() const noexcept { return exact_on_ ? exact_.get() : nullptr; }
  [[nodiscard]] PmSampler* sampler() const noexcept { return sampler_on_ ? sampler_.get() : nullptr; }
  [[nodiscard]] PmSampler* any_sampler() const noexcept { return sampler_.get(); }
  [[nodiscard]] OwnCost callback_cost() const;
  [[nodiscard]] std::string metrics() const { return counter_options_->metrics; }

 private:
  [[nodiscard]] bool subscribe(std::string& error);
  [[nodiscard]] bool enable(bool late, std::string& error);
  void make_exact();
  void make_sampler();
  void use_counters(CounterMode counters, bool late);
  void discard_buffers();

  /// An exact profiler cannot be destroyed: so often may its metrics be changed.
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
  bool exact_on_ = false, sampler_on_ = false, profiler_calls_ = false;
  int metric_changes_ = 0;
  std::atomic<bool> loaded_{false}, held_{false};
};

}  // namespace rangefinder
