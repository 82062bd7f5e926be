// SPDX-License-Identifier: Apache-2.0
//
// Exact bytes: a counter range of its own around every launch.
//
//   launch callback, enter ─▶ lock the context ─▶ PushRange ─▶ [the launch] ─▶ PopRange ─▶ unlock
//   every `batch` launches:   Stop ─▶ decode ─▶ evaluate ─▶ batch to the drain thread ─▶ Start
//
// The GPU drains between two ranges, so a range holds its launch and nothing else;
// that serialises launches into one context, which is what this mode costs (design,
// rule 2: the one lock that we hold over a call of the application). Nobody waits
// longer than kPatience for it: a launch that cannot be measured goes on without.
//
// Nothing is replayed and caches stay warm: the values are those of this very run.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "profiler/counters/exact_launch.h"
#include "profiler/cupti/loader.h"
#include "schema/loss.h"

namespace rangefinder {

class ExactSession;

class ExactProfiler {
 public:
  static constexpr std::chrono::seconds kPatience{10};
  /// A batch that is not full is decoded after this time, so that a killed program loses little.
  static constexpr std::int64_t kBatchNs = 2'000'000'000;
  static constexpr std::size_t kMaxContexts = 64;

  /// `on_refused(user, reason)`: called once, from a launch of the application, when counters
  /// cannot be had, or not any more; tracing must then take over.
  ExactProfiler(const CuptiLibrary& library, LossLedger& loss, std::uint32_t batch,
                void (*on_refused)(void* user, const std::string& reason), void* user);
  ~ExactProfiler();
  ExactProfiler(const ExactProfiler&) = delete;
  ExactProfiler& operator=(const ExactProfiler&) = delete;

  /// Before a launch into `context`. no: a range is open and leave() must follow on this thread;
  /// otherwise the launch goes on unmeasured, for this reason.
  [[nodiscard]] Unmeasured enter(CUcontext context) noexcept;
  /// After it. `launch` without values; it is kept until its batch is decoded.
  void leave(CUcontext context, const ExactLaunch& launch) noexcept;
  /// A launch that could not be measured: written with the reason.
  void pass(const ExactLaunch& launch) noexcept;

  /// A launch of which nobody knows where it will run goes by without enter(): what is being
  /// measured meanwhile is not measured alone.
  void pass_by() noexcept;

  /// The context is about to be destroyed: its last batch is decoded.
  void context_destroyed(CUcontext context) noexcept;
  /// Last batches; no range is opened afterwards. Before the driver's own exit handlers run.
  void finish() noexcept;

  /// Drain thread: moves what was measured since the last call to `out` (appends).
  void take(std::vector<ExactLaunch>& out);

  /// Counters were refused for the whole process.
  [[nodiscard]] bool refused() const noexcept { return refused_.load(std::memory_order_relaxed); }
  /// Time application threads spent in here, and batches decoded.
  [[nodiscard]] std::uint64_t held_ns() const noexcept { return held_ns_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t batches() const noexcept { return batches_.load(std::memory_order_relaxed); }

 private:
  friend class ExactSession;
  [[nodiscard]] ExactSession* find_session(CUcontext context) noexcept;
  [[nodiscard]] ExactSession* session_of(CUcontext context) noexcept;  // makes one if need be
  void end(ExactSession& session, std::chrono::milliseconds patience) noexcept;
  void refuse(const std::string& reason) noexcept;
  void deliver(const ExactLaunch* launches, std::size_t count) noexcept;

  const CuptiLibrary& library_;
  LossLedger& loss_;
  const std::uint32_t batch_;
  void (*const on_refused_)(void*, const std::string&);
  void* const user_;
  std::atomic<bool> refused_{false}, finished_{false};
  std::atomic<std::uint64_t> held_ns_{0}, batches_{0};
  std::mutex sessions_mutex_;  // for adding one; those below session_count_ never change
  std::array<std::unique_ptr<ExactSession>, kMaxContexts> sessions_;
  std::atomic<std::size_t> session_count_{0};
  std::mutex measured_mutex_;
  std::vector<ExactLaunch> measured_;  // guarded by measured_mutex_
};

}  // namespace rangefinder
