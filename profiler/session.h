// SPDX-License-Identifier: Apache-2.0
//
// The order in which everything starts and stops; nothing else.
//
//   cuInit ─▶ InitializeInjection ─▶ start_from_environment(): options, NVTX variable, CUPTI
//   first context ─▶ drain thread starts, exit handler registered
//   exit ─▶ stop(): counters, last records, end line           (before the driver's handlers)
//
// Owned by injection/entry.cpp and leaked on purpose: CUPTI may call while static
// destructors run. Memory: activity buffers 64 MiB, join table 12 MiB and at most 80
// rings of 0.6 MiB make 124 MiB, whatever the program does; names and paths come on
// top, bounded too (name_table.h, path_table.h).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "profiler/activity/buffer_pool.h"
#include "profiler/counters/exact_profiler.h"
#include "profiler/counters/pm_sampler.h"
#include "profiler/cupti/loader.h"
#include "profiler/drain/drain_thread.h"
#include "profiler/launch/launch_callbacks.h"
#include "profiler/options.h"

namespace rangefinder {

class Session {
 public:
  /// Called inside cuInit. nullptr when not even a session could be made. Throws nothing but
  /// bad_alloc, which the caller keeps from the driver.
  [[nodiscard]] static Session* start_from_environment();

  /// What must be known before the first NVTX call is served. Any thread, any number of times.
  static void prepare_nvtx() noexcept;

  /// Ends recording within the time an exiting program may lose to us. Only in the process that
  /// started the session; a forked child's call does nothing.
  void stop(const char* reason) noexcept;

 private:
  explicit Session(Options options);

  void attach_nvtx();
  [[nodiscard]] bool attach_cupti();
  [[nodiscard]] bool subscribe();
  [[nodiscard]] bool enable_activity();
  void start_draining() noexcept;
  void on_context_created(CUcontext context) noexcept;
  void on_context_destroyed(CUcontext context) noexcept;
  void make_counters();
  void on_counters_refused(const std::string& reason) noexcept;
  [[nodiscard]] OwnCost callback_cost() const;
  void give_up_cupti(const std::string& reason);

  const Options options_;
  const pid_t pid_;
  CuptiLibrary cupti_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::unique_ptr<BufferPool> buffers_;
  std::unique_ptr<ExactProfiler> exact_;
  std::unique_ptr<PmSampler> sampler_;
  std::unique_ptr<LaunchCallbacks> callbacks_;
  std::unique_ptr<DrainThread> drain_;
  std::once_flag draining_;
  std::atomic<bool> started_{false};
};

}  // namespace rangefinder
