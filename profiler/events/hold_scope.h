// SPDX-License-Identifier: Apache-2.0
//
// Records that the profiler makes a thread of the application wait.
//
//   { const HoldScope hold(recorder, HoldCause::counter_batch); … what makes it wait … }
//       20 us or more ─▶ Event{hold, cause, t0, t1} into the thread's ring ─▶ `hold` line
//
// Two reads of the clock, so only for what may take long. Does nothing on threads of the profiler. The thread
// must not be in use (ThreadUse) where a scope ends: the event would be counted as dropped.
#pragma once

#include <cstdint>

#include "profiler/events/recorder.h"
#include "schema/record.h"

namespace rangefinder {

/// Shorter waits have no line.
inline constexpr std::int64_t kMinHoldNs = 20'000;

/// The event of a wait; times are those of Recorder::clock.
[[nodiscard]] Event hold_event(HoldCause cause, std::int64_t start_ns, std::int64_t end_ns) noexcept;

class HoldScope {
 public:
  HoldScope(Recorder& recorder, HoldCause cause, std::int64_t min_ns = kMinHoldNs) noexcept
      : recorder_(recorder), cause_(cause), min_ns_(min_ns), start_ns_(recorder.clock.now_ns()) {}
  ~HoldScope() { end(); }
  HoldScope(const HoldScope&) = delete;
  HoldScope& operator=(const HoldScope&) = delete;

  /// Ends the wait and returns its length. Only the first call counts.
  std::int64_t end() noexcept;
  /// This was no wait for the profiler.
  void cancel() noexcept { ended_ = true; }

 private:
  Recorder& recorder_;
  const HoldCause cause_;
  const std::int64_t min_ns_, start_ns_;
  bool ended_ = false;
};

}  // namespace rangefinder
