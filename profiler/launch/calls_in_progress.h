// SPDX-License-Identifier: Apache-2.0
//
// Which driver calls are in progress, so that their callbacks can be disabled safely.
//
// CUPTI tracks the nesting of a thread's calls through its enter and exit callbacks. If a callback is
// disabled while a thread is inside the call, CUPTI misses the exit. It then treats every later call of that
// thread as part of that one, and all its launches share one correlation id
// (docs/internals/measured.md, "Callbacks disabled during a call"). Enabling a callback during a call is
// harmless. So a callback is disabled only while no thread is in its call. CUPTI's own exit code runs after
// our callback and counts as inside. A thread may be preempted there for a long time. So a thread has left a
// call only once it is in another one, or has made no call for kQuietNs:
//
//   application ─ enter ─▶ begin(): marks the thread as inside. If the callback was disabled after CUPTI had
//               │                   started to call us: enables it again, so that CUPTI sees the exit
//               ─ exit  ─▶ end()
//   session     ─▶ switch_off(): marks callbacks as disabled, finds the threads that are inside, and
//                                disables only the callbacks of calls that no thread is in
//
// Refuses nothing: a thread without a ThreadState makes all calls count as in progress.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "profiler/events/thread_state.h"
#include "profiler/launch/driver_apis.h"

namespace rangefinder {

class CallsInProgress {
 public:
  using Calls = std::bitset<kMaxDriverApis>;  ///< by index of driver_apis()

  /// Longer than the scheduler keeps a runnable thread waiting.
  static constexpr std::int64_t kQuietNs = 100'000'000;

  explicit CallsInProgress(ThreadRegistry& threads) noexcept : threads_(threads) {}

  /// Owner thread of `state`, at the call's enter; nullptr: the thread has no state. `enable(call)` enables a
  /// callback. It is called under the lock that switch_off() holds.
  template <typename Enable>
  void begin(ThreadState* state, std::size_t call, const Enable& enable) noexcept {
    if (state != nullptr) state->enter_call(static_cast<std::uint16_t>(call + 1));
    if (state == nullptr) untracked_.fetch_add(1, std::memory_order_seq_cst);
    if (!off_[call].load(std::memory_order_seq_cst)) [[likely]]
      return;
    const std::lock_guard lock(mutex_);
    if (!off_[call].load(std::memory_order_relaxed)) return;
    enable(call);
    off_[call].store(false, std::memory_order_relaxed);
    reenabled_.set(call);
  }
  void end(ThreadState* state) noexcept {
    if (state != nullptr) state->leave_call();
    if (state == nullptr) untracked_.fetch_sub(1, std::memory_order_seq_cst);
  }

  /// Call before the callback is enabled.
  void mark_enabled(std::size_t call) noexcept { off_[call].store(false, std::memory_order_seq_cst); }

  /// Calls `disable(call)` for each of `calls` that no thread is in. `now_ns`: any monotonic clock. Returns
  /// the calls whose callbacks stay enabled: threads are in them, or entered them during this call.
  template <typename Disable>
  Calls switch_off(Calls calls, std::int64_t now_ns, const Disable& disable) noexcept {
    const std::lock_guard lock(mutex_);
    calls |= reenabled_;
    reenabled_.reset();
    for (std::size_t call = 0; call < calls.size(); ++call) {
      if (calls[call]) off_[call].store(true, std::memory_order_seq_cst);
    }
    const Calls in_progress = this->in_progress(now_ns) & calls;
    for (std::size_t call = 0; call < calls.size(); ++call) {
      if (in_progress[call]) {
        off_[call].store(false, std::memory_order_relaxed);
      } else if (calls[call]) {
        disable(call);
      }
    }
    return in_progress;
  }

 private:
  /// Calls that a thread is in, or may still be leaving.
  [[nodiscard]] Calls in_progress(std::int64_t now_ns) const noexcept {
    Calls calls;
    if (untracked_.load(std::memory_order_seq_cst) != 0) return calls.set();
    threads_.for_each([&](const ThreadState& state) {
      const std::uint16_t call = state.call();
      const bool inside = (call & ThreadState::kInside) != 0;
      const std::size_t last = call & ~std::size_t{ThreadState::kInside};
      const std::uint32_t made = state.calls();
      ThreadState::CallsSeen& seen = state.calls_seen();
      if (inside || seen.calls != made) seen = {made, now_ns};
      const bool quiet = made == 0 || now_ns - seen.since_ns >= kQuietNs;
      if (last != 0 && (inside || !quiet)) calls.set(last - 1);
    });
    return calls;
  }

  ThreadRegistry& threads_;
  std::mutex mutex_;  // application threads take it only while a callback is being disabled
  std::array<std::atomic<bool>, kMaxDriverApis> off_{};
  Calls reenabled_;
  std::atomic<std::int32_t> untracked_{0};  // calls in progress on threads without a ThreadState
};

}  // namespace rangefinder
