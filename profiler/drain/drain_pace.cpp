// SPDX-License-Identifier: Apache-2.0
//
// DrainThread: its sleep, its flush requests to CUPTI, and the windows of monitor mode.
#include <algorithm>
#include <string>

#include "profiler/activity/activity_callbacks.h"
#include "profiler/base/duration.h"
#include "profiler/base/monotonic_clock.h"
#include "profiler/drain/drain_thread.h"
#include "profiler/guest/log.h"

namespace rangefinder {
namespace {

constexpr std::chrono::milliseconds kBusySleep{10};
constexpr std::chrono::milliseconds kQuietSleep{100};
/// Interval of flush requests to CUPTI while the application is quiet, for late records.
constexpr std::int64_t kQuietRequestNs = 5'000'000'000;

}  // namespace

std::chrono::milliseconds DrainThread::time_to_sleep() const {
  const std::int64_t now_ns = clock_now_ns();
  const auto longest = now_ns - last_input_ns_ < kQuietAfterNs ? kBusySleep : kQuietSleep;
  if (!cycle_) return longest;
  const auto left = std::chrono::milliseconds((cycle_->next_ns() - now_ns) / kNsPerMs + 1);
  return std::clamp(left, std::chrono::milliseconds(1), longest);
}

void DrainThread::request_records(std::int64_t now_ns) {
  if (from_.cupti == nullptr) return;
  const bool quiet = now_ns - last_input_ns_ > kQuietAfterNs;
  const bool requested = write_requested_.load(std::memory_order_relaxed) != written_;
  const std::int64_t interval_ns = quiet ? kQuietRequestNs : from_.options.flush_ms * kNsPerMs;
  if (!requested && now_ns - last_request_ns_ < interval_ns) return;
  last_request_ns_ = now_ns;
  // CUPTI returns complete records into the pool's queue, on this thread. It does not wait for GPU work.
  const std::int64_t begin_ns = monotonic_now_ns();
  from_.cupti->functions.ActivityFlushAll(0);
  longest_flush_ns_ = std::max(longest_flush_ns_, monotonic_now_ns() - begin_ns);
  std::size_t dropped = 0;
  if (from_.cupti->functions.ActivityGetNumDroppedRecords(nullptr, 0, &dropped) == CUPTI_SUCCESS &&
      dropped != 0) {
    from_.recorder.loss.add(Loss::cupti_dropped_records, dropped);
  }
}

void DrainThread::flush_last_records() {
  const std::int64_t begin_ns = monotonic_now_ns();
  from_.cupti->functions.ActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  log_info("the last activity records were flushed in " +
           std::to_string((monotonic_now_ns() - begin_ns) / 1000) + " us");
  // Events in the rings since then belong to no window, so this gap must not count as longest_gap_ns_.
  rings_read_ns_ = 0;
}

void DrainThread::note_rings_read(std::int64_t now_ns) noexcept {
  if (rings_read_ns_ != 0) longest_gap_ns_ = std::max(longest_gap_ns_, now_ns - rings_read_ns_);
  rings_read_ns_ = now_ns;
}

void DrainThread::sleep() {
  const std::chrono::nanoseconds limit = time_to_sleep();
  const std::int64_t begin_ns = monotonic_now_ns();
  note_rings_read(begin_ns);
  from_.recorder.sleep_until_woken(limit);
  // Sleep beyond the limit counts as part of the gap: rings fill up meanwhile.
  rings_read_ns_ = std::min(monotonic_now_ns(), begin_ns + limit.count());
}

void DrainThread::begin_cycle() {
  cycle_.emplace(
      from_.options.monitor, clock_now_ns(),
      [this](bool on) { switch_work_records(from_.cupti->functions, from_.options.graphs, on); },
      clock_now_ns);
  drain_.monitor(*cycle_);
}

void DrainThread::follow_cycle(bool last) {
  const std::int64_t begin_ns = cycle_->period_begin_ns();
  const std::int64_t now_ns = window_end_ns_ != 0 ? window_end_ns_ : clock_now_ns();
  std::uint64_t window_ns = cycle_->window_ns(now_ns);
  if (!last) {
    if (cycle_->turn() == MonitorCycle::Change::period_ended)
      drain_.end_period(begin_ns, cycle_->period_begin_ns(), window_ns);
    return;
  }
  // Every window has the same weight in the rates, so a short last one must not count.
  if (window_ns < static_cast<std::uint64_t>(from_.options.monitor.window_ns) / 2) window_ns = 0;
  drain_.end_period(begin_ns, std::max(now_ns, begin_ns), window_ns);
}

}  // namespace rangefinder
