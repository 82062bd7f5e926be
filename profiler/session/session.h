// SPDX-License-Identifier: Apache-2.0
//
// Starts and stops all parts of the profiler in order. It does nothing else.
//
//   cuInit ─▶ InitializeInjection ─▶ start_from_environment(): options, NVTX variable, CUPTI
//   first context ─▶ first window, exit handler registered            (RANGEFINDER_START=on)
//   control thread, a range, cuProfilerStart ─▶ begin_window … close_window
//   exit ─▶ stop(): counters, last records, end line           (before the driver's handlers)
//
// Each window has its own trace and its own drain thread (window.h). A thread holds the mutex `changing_`
// while it changes the state or calls CUPTI. Only stop() waits for the mutex, at most 0.9 s, because the
// driver shuts down after stop() returns. All other functions return if it is locked. stop() sets `ended`
// without the mutex, so every other change of the state is a compare-and-exchange (move()).
//
// Owned by injection/entry.cpp and leaked on purpose: CUPTI may call while static destructors run.
//
// Memory of a window, at most: activity buffers 64 MiB, join table 12 MiB, 80 rings of 0.6 MiB, and 16 rings
// of 4 MiB for busy threads, 6 MiB to sort work by start; 194 MiB together. Names and paths come on top,
// bounded too (name_table.h, path_table.h, naming_log.h), and the paths of living graphs (graph_table.h).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "profiler/control/control_target.h"
#include "profiler/control/control_thread.h"
#include "profiler/options/options.h"
#include "profiler/session/collection.h"
#include "profiler/session/hand_over.h"
#include "profiler/session/host_samplers.h"
#include "profiler/session/window.h"

namespace rangefinder {

class Session final : public ControlTarget {
 public:
  /// Called inside cuInit. Throws nothing but bad_alloc, which the caller must catch: it may not
  /// reach the driver.
  [[nodiscard]] static Session* start_from_environment();

  /// Ends recording, within 2 s of the application's exit. In a forked child it does nothing.
  void stop(const char* reason) noexcept;

  // ControlTarget
  [[nodiscard]] std::string begin_window(const WindowRequest& request) noexcept override;
  [[nodiscard]] std::string close_window(const char* reason) noexcept override;
  [[nodiscard]] bool finish_window() override;
  [[nodiscard]] std::string give_up_cupti(const std::string& gap_cause) override;
  [[nodiscard]] std::string reclaim_cupti() override;
  [[nodiscard]] SessionStatus status() override;
  void set_counters(CounterMode counters) override { counters_.store(counters); }
  [[nodiscard]] std::string set_metrics(const std::string& metrics) override;
  [[nodiscard]] std::uint64_t request_write() override;
  [[nodiscard]] std::string summary() override;

 private:
  explicit Session(Options options);

  void start_recording();
  void start_idle();
  void start_control() noexcept;
  void on_context_created(CUcontext context) noexcept;
  void on_context_destroyed(CUcontext context) noexcept;
  void on_profiler_call(bool start) noexcept {
    if (control_) control_->on_profiler_call(start);
  }
  void on_synchronised() const noexcept {
    if (const auto open = window(); open && state_.load() == SessionState::recording) open->catch_up();
  }
  void on_counters_refused(const std::string& reason) noexcept;
  [[nodiscard]] Collection::Hooks hooks();

  // Windows.
  void open_first_window() noexcept;
  [[nodiscard]] std::string open_window(const WindowRequest& request);
  [[nodiscard]] bool start_window(const WindowRequest& request, DrainLoop::Begin begin, CounterMode counters);
  void complete_window(Window& window);
  void register_exit() noexcept;
  [[nodiscard]] std::shared_ptr<Window> window() const;
  void set_window(std::shared_ptr<Window> window);
  /// This process was started by the application, not by `rangefinder run` itself.
  [[nodiscard]] bool is_child() const noexcept;
  [[nodiscard]] std::string default_folder(std::uint64_t window) const;
  void wait_for_driver() const;

  // The subscription to CUPTI between windows.
  [[nodiscard]] bool holds_between_windows() const noexcept {
    return options_.start != StartMode::off || options_.capture.by == CaptureBy::profiler_calls;
  }
  [[nodiscard]] bool hold(std::string& error);
  [[nodiscard]] bool end_collection();
  void settle();

  /// CUPTI was given up, in the open window or without one.
  [[nodiscard]] bool yielded() const {
    const auto open = window();
    return state_.load() == SessionState::yielded || (open && HandOver::yielded(*open));
  }

  /// Holds `changing_`, or not if another thread does.
  [[nodiscard]] std::unique_lock<std::timed_mutex> try_changing() {
    return std::unique_lock(changing_, std::try_to_lock);
  }
  /// True: the state was `from`, and is `to`.
  bool move(SessionState from, SessionState to) noexcept { return state_.compare_exchange_strong(from, to); }
  /// No window is open, and none is closing.
  [[nodiscard]] bool between_windows() const noexcept { return is_complete(state_.load()); }

  /// A process may end early without warning: until then its records are not old (Window::catch_up()).
  static constexpr std::int64_t kYoungNs = 2'000'000'000;

  const Options options_;
  const pid_t pid_;
  Collection collection_;
  std::timed_mutex changing_;
  std::atomic<SessionState> state_{SessionState::idle};
  HandOver hand_over_{collection_};
  std::atomic<CounterMode> counters_;  // of the next window
  std::uint64_t windows_ = 0;          // begun so far; guarded by changing_
  HostSamplers samplers_;              // guarded by changing_
  std::atomic<int> exit_registrations_{0};
  std::once_flag first_window_, control_once_;
  mutable std::mutex window_mutex_;
  std::shared_ptr<Window> window_;  // guarded by window_mutex_; nullptr between windows
  WindowProgress last_window_;      // guarded by window_mutex_
  std::string last_summary_;        // guarded by window_mutex_
  std::unique_ptr<ControlThread> control_;
};

}  // namespace rangefinder
