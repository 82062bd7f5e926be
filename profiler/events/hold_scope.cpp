// SPDX-License-Identifier: Apache-2.0
#include "profiler/events/hold_scope.h"

#include "profiler/guest/own_thread.h"

namespace rangefinder {

Event hold_event(HoldCause cause, std::int64_t start_ns, std::int64_t end_ns) noexcept {
  Event event;
  event.kind = EventKind::hold;
  event.flags = static_cast<std::uint8_t>(cause);
  event.start_ns = start_ns;
  event.end_ns = end_ns;
  return event;
}

std::int64_t HoldScope::end() noexcept {
  if (ended_) return 0;
  ended_ = true;
  const std::int64_t end_ns = recorder_.clock.now_ns();
  if (end_ns - start_ns_ >= min_ns_ && !on_own_thread()) {
    if (const ThreadUse use = recorder_.threads.use()) use->emit(hold_event(cause_, start_ns_, end_ns));
  }
  return end_ns - start_ns_;
}

}  // namespace rangefinder
