// SPDX-License-Identifier: Apache-2.0
//
// Which calls of the driver are under way, for whoever switches their callbacks off.
//
// CUPTI counts how deep a thread is in calls by the callbacks that it makes. Where one is switched off while
// a thread is inside of the call, its exit is not counted: from then on CUPTI takes every call of that thread
// for a part of that one, and all its launches have one correlation id (measured:
// tests/bench/toggle_correlation; switching on during a call does no harm). So a callback goes off while
// nobody is in its call. CUPTI's own part of an exit comes behind our callback and counts as inside, and a
// thread may be held up there for as long as others want its processor. So a thread is out of a call if it is
// in another, or has made none for kRest:
//
//   application ─ enter ─▶ begin(): tells that it is inside. Off already, though CUPTI had begun to call us?
//               │                   Then on again, and the exit is told
//               ─ exit  ─▶ end()
//   session     ─▶ switch_off(): tells that they go off, asks who is inside, and leaves on what they are in
//
// Refuses nothing: with more threads than there are states, all calls count as under way.
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

  /// Longer than a thread that wants to run is kept from it.
  static constexpr std::int64_t kRestNs = 100'000'000;

  explicit CallsInProgress(ThreadRegistry& threads) noexcept : threads_(threads) {}

  /// Owner thread of `state`, at the call's enter; nullptr: a thread that has none. `on(call)` switches a
  /// callback on; called under the lock that switch_off() holds.
  template <typename SwitchOn>
  void begin(ThreadState* state, std::size_t call, const SwitchOn& on) noexcept {
    if (state != nullptr) state->enter_call(static_cast<std::uint16_t>(call + 1));
    if (state == nullptr) unfollowed_.fetch_add(1, std::memory_order_seq_cst);
    if (!off_[call].load(std::memory_order_seq_cst)) [[likely]]
      return;
    const std::lock_guard lock(mutex_);
    if (!off_[call].load(std::memory_order_relaxed)) return;
    on(call);
    off_[call].store(false, std::memory_order_relaxed);
    on_again_.set(call);
  }
  void end(ThreadState* state) noexcept {
    if (state != nullptr) state->leave_call();
    if (state == nullptr) unfollowed_.fetch_sub(1, std::memory_order_seq_cst);
  }

  /// Before their callbacks go on.
  void switching_on(std::size_t call) noexcept { off_[call].store(false, std::memory_order_seq_cst); }

  /// `off(call)` for each of `calls` that nobody is in; `now_ns` by any clock that only goes forward. Returns
  /// those that are on: threads are in them, or came while they went off.
  template <typename SwitchOff>
  Calls switch_off(Calls calls, std::int64_t now_ns, const SwitchOff& off) noexcept {
    const std::lock_guard lock(mutex_);
    calls |= on_again_;
    on_again_.reset();
    for (std::size_t call = 0; call < calls.size(); ++call) {
      if (calls[call]) off_[call].store(true, std::memory_order_seq_cst);
    }
    const Calls in_progress = this->in_progress(now_ns) & calls;
    for (std::size_t call = 0; call < calls.size(); ++call) {
      if (in_progress[call]) {
        off_[call].store(false, std::memory_order_relaxed);
      } else if (calls[call]) {
        off(call);
      }
    }
    return in_progress;
  }

 private:
  /// Those that somebody is in, or may be on the way out of.
  [[nodiscard]] Calls in_progress(std::int64_t now_ns) const noexcept {
    Calls calls;
    if (unfollowed_.load(std::memory_order_seq_cst) != 0) return calls.set();
    threads_.for_each([&](const ThreadState& state) {
      const std::uint16_t inside = state.call_in_progress(), last = state.last_call();
      const std::uint32_t made = state.calls();
      ThreadState::CallsSeen& seen = state.calls_seen();
      if (inside != 0 || seen.calls != made) seen = {made, now_ns};
      const bool rests = made == 0 || now_ns - seen.since_ns >= kRestNs;
      if (inside != 0) calls.set(inside - 1U);
      if (inside == 0 && last != 0 && !rests) calls.set(last - 1U);
    });
    return calls;
  }

  ThreadRegistry& threads_;
  std::mutex mutex_;  // the application comes here only in the moment in which a callback goes off
  std::array<std::atomic<bool>, kMaxDriverApis> off_{};
  Calls on_again_;
  std::atomic<std::int32_t> unfollowed_{0};
};

}  // namespace rangefinder
