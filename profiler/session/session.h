// SPDX-License-Identifier: Apache-2.0
//
// Starts and stops all parts of the profiler in order. It does nothing else.
//
//   cuInit ─▶ InitializeInjection ─▶ start_from_environment(): options, NVTX variable, CUPTI
//   first context ─▶ first window, exit handler registered            (RANGEFINDER_START=on)
//   control thread, a range, cuProfilerStart ─▶ begin_window … close_window   (session_windows.cpp)
//   exit ─▶ stop(): counters, last records, end line           (before the driver's handlers)
//
// Each window has its own trace and its own drain thread. Owned by injection/entry.cpp and
// leaked on purpose: CUPTI may call while static destructors run.
//
// Memory of a window, at most: activity buffers 64 MiB, join table 12 MiB, 80 rings of 0.6 MiB, and 16 rings
// of 4 MiB for busy threads; 188 MiB together. Names and paths come on top, bounded too (name_table.h,
// path_table.h, naming_log.h).
//
// Three files: session.cpp holds start and exit, session_windows.cpp the windows, session_holding.cpp the
// subscription to CUPTI between windows.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "profiler/control/control_target.h"
#include "profiler/control/control_thread.h"
#include "profiler/drain/drain_loop.h"
#include "profiler/options/options.h"
#include "profiler/session/collection.h"

namespace rangefinder {

class Session final : public ControlTarget {
 public:
  /// Called inside cuInit. Throws nothing but bad_alloc, which the caller must catch: it may not
  /// reach the driver.
  [[nodiscard]] static Session* start_from_environment();

  /// Reads the options that the first NVTX call needs. Any thread, any number of times.
  static void prepare_nvtx() noexcept;

  /// Ends recording, within 2 s of the application's exit. In a forked child it does nothing.
  void stop(const char* reason) noexcept;

  // ControlTarget
  [[nodiscard]] std::string begin_window(const WindowRequest& request) noexcept override;
  [[nodiscard]] std::string close_window(const char* reason) noexcept override;
  [[nodiscard]] bool finish_window() override;
  [[nodiscard]] std::string give_up_cupti() override;
  [[nodiscard]] std::string reclaim_cupti() override;
  [[nodiscard]] SessionStatus status() override;
  void set_counters(CounterMode counters) override;
  [[nodiscard]] std::string set_metrics(const std::string& metrics) override;
  [[nodiscard]] std::uint64_t request_write() override;
  [[nodiscard]] std::string summary() override;

 private:
  explicit Session(Options options);

  void attach_nvtx();
  void start_recording();
  void start_idle();
  void start_control() noexcept;
  void on_context_created(CUcontext context) noexcept;
  void on_context_destroyed(CUcontext context) noexcept;
  void on_profiler_call(bool start) noexcept;
  void on_counters_refused(const std::string& reason) noexcept;
  [[nodiscard]] Collection::Hooks hooks();
  void report_no_cupti(const std::string& reason);

  // session_windows.cpp
  void open_first_window() noexcept;
  [[nodiscard]] std::string open_window(const WindowRequest& request);
  [[nodiscard]] bool start_drain(const WindowRequest& request, bool late);
  void register_exit() noexcept;
  [[nodiscard]] std::shared_ptr<DrainLoop> drain() const;
  /// This process was started by the application, not by `rangefinder run` itself.
  [[nodiscard]] bool is_child() const noexcept;
  [[nodiscard]] std::string default_folder(std::uint64_t window) const;
  [[nodiscard]] bool calls_in_progress() const;
  [[nodiscard]] bool holds_between_windows() const noexcept;
  void end_collection();
  void retry_end_collection();
  void wait_for_driver() const;
  void forget_window();

  /// While one exists, a thread may be inside CUPTI. stop() waits for it: the driver shuts down once we
  /// return.
  class InsideCupti {
   public:
    explicit InsideCupti(Session& session) noexcept : session_(session) {
      session_.inside_cupti_.fetch_add(1);
    }
    ~InsideCupti() { session_.inside_cupti_.fetch_sub(1); }
    InsideCupti(const InsideCupti&) = delete;
    InsideCupti& operator=(const InsideCupti&) = delete;

   private:
    Session& session_;
  };

  const Options options_;
  const pid_t pid_;
  Collection collection_;
  std::atomic<SessionState> state_{SessionState::idle};
  std::atomic<bool> yielded_{false};
  int disabling_turns_ = 0;
  std::atomic<bool> disabling_callbacks_{false};  ///< threads are in calls whose callbacks must still go off
  std::atomic<CounterMode> counters_;             // of the next window
  std::atomic<CounterMode> window_counters_;      // of the open one
  std::atomic<std::uint64_t> windows_{0};         // begun so far
  std::atomic<std::int64_t> begin_ns_{0}, end_ns_{0};
  std::atomic<const char*> reason_{""};
  bool quiesced_ = false;  // the closing window waits for its last records; control thread only
  std::atomic<int> exit_registrations_{0}, inside_cupti_{0};
  std::once_flag first_window_, control_once_;
  mutable std::mutex drain_mutex_;
  std::shared_ptr<DrainLoop> drain_;  // guarded by drain_mutex_
  WindowProgress last_window_;        // guarded by drain_mutex_
  std::string last_summary_;          // guarded by drain_mutex_
  std::unique_ptr<ControlThread> control_;
};

}  // namespace rangefinder
