// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/ring_reader.h"

#include <algorithm>
#include <string>

#include "profiler/base/monotonic_clock.h"
#include "profiler/output/process_facts.h"

namespace rangefinder {
namespace {

/// A thread that emits this many events between two reads would fill its first ring while the disk or CUPTI
/// takes 80 ms.
constexpr std::size_t kBusyEvents = EventRing::kSlots / 8;

}  // namespace

std::size_t RingReader::read() {
  if (late_ && from_ns_.load(std::memory_order_acquire) == 0) return 0;
  std::size_t events = 0;
  note_read(monotonic_now_ns());
  const std::uint64_t replaced_graphs = recorder_.graphs.mark();
  recorder_.threads.for_each([&](ThreadState& state) {
    EventRing& ring = state.ring();
    if (ring.empty()) return;
    name_thread(state);
    const std::size_t read = ring.drain([&](const Event& event) {
      if (!is_of_window(event)) return;
      extra_.resize(event.extra_bytes);
      if (event.extra_bytes != 0) ring.extra(extra_.data(), extra_.size());
      trace_.builder().on_event(state.thread(), event, extra_);
    });
    if (read >= kBusyEvents) recorder_.threads.enlarge(state);
    events += read;
  });
  recorder_.graphs.forget(replaced_graphs);  // all events that may name them have been read
  return events;
}

// Unless the application names the thread, its name is the one in /proc (comm).
void RingReader::name_thread(const ThreadState& state) {
  const std::uint32_t thread = state.thread();
  if (std::find(named_threads_.begin(), named_threads_.end(), thread) != named_threads_.end()) return;
  named_threads_.push_back(thread);
  Event name{};
  name.kind = EventKind::thread_name;
  name.thread.id = thread;
  std::string comm = thread_comm(thread);
  if (comm.empty()) comm = state.first_comm();  // the thread has ended
  name.thread.name = recorder_.names.intern(comm);
  trace_.builder().on_event(thread, name, {});
}

// Calls that were in progress when the window began are excluded: records were switched on too late for them.
bool RingReader::is_of_window(const Event& event) const noexcept {
  if (names_something(event.kind)) return true;
  // The thread had not seen the window's end yet.
  if (event.start_ns >= until_ns_) return false;
  const std::int64_t from_ns = from_ns_.load(std::memory_order_acquire);
  if (event.kind == EventKind::hold) return event.end_ns > from_ns;  // the window's own start is one
  const bool is_range = event.kind == EventKind::range || event.kind == EventKind::range_start_end;
  return is_range || event.start_ns >= from_ns;
}

void RingReader::sleep(std::chrono::nanoseconds limit) noexcept {
  const std::int64_t begin_ns = monotonic_now_ns();
  note_read(begin_ns);
  recorder_.sleep_until_woken(limit);
  read_ns_ = std::min(monotonic_now_ns(), begin_ns + limit.count());
}

void RingReader::note_read(std::int64_t now_ns) noexcept {
  if (read_ns_ != 0) longest_gap_ns_ = std::max(longest_gap_ns_, now_ns - read_ns_);
  read_ns_ = now_ns;
}

}  // namespace rangefinder
