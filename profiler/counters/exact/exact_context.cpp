// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/exact/exact_context.h"

#include <algorithm>
#include <span>
#include <utility>

#include "profiler/events/hold_scope.h"
#include "profiler/events/path_table.h"
#include "profiler/guest/large_stack.h"

namespace rangefinder {

ExactContext::ExactContext(const CuptiLibrary& library, CUcontext of, std::uint32_t on,
                           const Options& options, ExactBatches& batches, Recorder& recorder)
    : context(of),
      gpu(on),
      at_(options.exact_at),
      batch_size_(options.exact_batch),
      batches_(batches),
      recorder_(recorder),
      session_(library, of),
      in_flight_(find_stream_query()),
      turns_(recorder) {}

bool ExactContext::joins_open_range(const ExactEntry& entry) const noexcept {
  if (!open_ || at_ != ExactAt::range || entry.range == 0) return false;
  const ExactLaunch& range = ranges_.back();
  return range.event.range == entry.range && range.thread == entry.thread;
}

bool ExactContext::batch_due(std::int64_t now_ns) const noexcept {
  return !ranges_.empty() && (ranges_.size() == batch_size_ || now_ns - batch_began_ns_ > kBatchNs);
}

// After a timeout, remembers the unfinished kernel as one that may wait, unless it is already known.
void ExactContext::record_waiter(bool waited) noexcept {
  if (waited && waiter_ == 0) waiter_ = in_flight_.unfinished();
}

std::uint32_t ExactContext::take_waiter() noexcept {
  return std::exchange(waiter_, 0);
}

// Whether a drain would end. With one stream it always does: later work cannot block it.
bool ExactContext::may_drain(std::int64_t patience_ns) noexcept {
  if (must_not_drain_) return false;
  if (!many_streams.load(std::memory_order_relaxed)) return true;
  return wait_for_gpu(patience_ns);
}

bool ExactContext::wait_for_gpu(std::int64_t patience_ns) noexcept {
  if (skip_waits_) patience_ns = 0;
  if (in_flight_.has_waiter()) patience_ns = std::min(patience_ns, kShortPatienceNs);
  const bool idle = in_flight_.wait(patience_ns);
  if (!idle) record_waiter(patience_ns >= kPatienceNs);
  skip_waits_ = !idle && (skip_waits_ || patience_ns > 0);
  return idle;
}

// False: the range must stay open.
bool ExactContext::close_range(std::int64_t patience_ns) {
  if (!open_) return true;
  if (!may_drain(patience_ns)) {
    stuck_ |= patience_ns >= kPatienceNs;
    return false;
  }
  open_ = false;
  ExactLaunch& range = ranges_.back();
  if (disturbed.exchange(false)) {
    range.exclusive = false;
    if (!range.is_counter_range) range.outcome = CounterOutcome::shared;
  }
  if (std::exchange(stuck_, false)) range.outcome = CounterOutcome::may_wait;
  return session_.pop();
}

CounterOutcome ExactContext::enter(const ExactEntry& entry, const CounterConfig& config) {
  if (entry.stream != nullptr && entry.stream != CU_STREAM_LEGACY) many_streams.store(true);
  if (joins_open_range(entry) && !stuck_) return CounterOutcome::measured;
  {
    HoldScope hold(recorder_, HoldCause::counter_range);
    // Work outside ranges must have ended too, not only the work of the last range.
    if (!close_range(kPatienceNs) || !may_drain(kPatienceNs)) {
      return session_.state() == ExactSession::State::failed ? CounterOutcome::not_started
                                                             : CounterOutcome::waiting;
    }
    hold.cancel();  // the cost of a range, like its own drain
  }
  turns_.arrive(entry, config.groups());
  const bool turn = !ranges_.empty() && turns_.is_due(group_);
  if (turn || batch_due(entry.now_ns) || !running()) {
    const CounterOutcome outcome = restart(entry, config, turn);
    if (outcome != CounterOutcome::measured) return outcome;
  }
  disturbed.store(false);  // launches before the range opens are not in it
  if (!session_.push(ranges_.size())) return CounterOutcome::not_started;
  if (ranges_.empty()) batch_began_ns_ = entry.now_ns;
  ExactLaunch& range = ranges_.emplace_back();
  range.event.range = entry.range;
  range.event.path = entry.path;
  range.thread = entry.thread;
  open_ = true;
  open_stream_ = entry.stream;
  turns_.count(group_);
  return CounterOutcome::measured;
}

// Ends the batch if it is due, and starts the next one.
CounterOutcome ExactContext::restart(const ExactEntry& entry, const CounterConfig& config, bool turn) {
  const HoldScope hold(recorder_,
                       session_.holds_counters() ? HoldCause::counter_batch : HoldCause::session_start);
  if ((turn || batch_due(entry.now_ns)) && !end_batch(kPatienceNs, false)) return CounterOutcome::waiting;
  if (running()) return CounterOutcome::measured;
  if (batch_size_ == 0) batch_size_ = config.groups() == 1 ? kBatch : kBatchInTurns;
  group_ = turns_.choose(group_);
  const bool started = session_.state() != ExactSession::State::failed &&
                       on_large_stack([&] { return session_.start(config, group_, batch_size_); },
                                      WithoutLargeStack::not_at_all);
  return started ? CounterOutcome::measured : CounterOutcome::not_started;
}

bool ExactContext::leave(const ExactEntry& entry, ExactLaunch& launch, std::uint64_t next_number) {
  last_ns_ = launch.event.end_ns;
  if (!in_flight_.add(entry.stream, launch.name, false)) must_not_drain_ = true;
  ExactLaunch& range = ranges_.back();
  const bool is_kernel = launch.kind == WorkKind::kernel || launch.kind == WorkKind::graph;
  launch.gpu = gpu;
  launch.group = static_cast<std::uint16_t>(group_);
  if (at_ == ExactAt::launch || entry.range == 0) {
    range = launch;
    range.outcome = CounterOutcome::lost;  // until it has values
    // With one stream, work cannot wait for a later launch.
    if (!many_streams.load(std::memory_order_relaxed)) {
      open_ = false;
      if (disturbed.exchange(false)) range.outcome = CounterOutcome::shared;
      (void)session_.pop();
    }
    return false;
  }
  if (range.launches == 0) {
    range.event = launch.event;
    range.event.correlation = 0;
    range.event.launch.result = 0;
    range.gpu = gpu;
    range.group = launch.group;
    range.is_counter_range = true;
    range.counter_range = next_number;
  }
  if (entry.stream != open_stream_) range.exclusive = false;
  range.event.end_ns = launch.event.end_ns;
  ++range.launches;
  if (is_kernel) ++range.kernels;
  launch.counter_range = range.counter_range;
  return true;
}

void ExactContext::launch_without_range(const ExactEntry& entry, bool may_wait) {
  if (open_) (void)close_range(may_wait ? kShortPatienceNs : kPatienceNs);
  if (open_) disturbed.store(true);
  if (!in_flight_.add(entry.stream, entry.name, may_wait)) must_not_drain_ = true;
}

void ExactContext::finish_range() {
  if (open_) (void)close_range(kPatienceNs);
}

void ExactContext::end_stream(CUstream stream, bool may_query) {
  // Afterwards the handle must not be queried. If the work does not end now, its range stays open and is
  // discarded.
  if (may_query && !wait_for_gpu(kPatienceNs) && open_) stuck_ = true;
  in_flight_.forget(stream);
}

bool ExactContext::end_batch(std::int64_t patience_ns, bool disable) {
  // Waits even with one stream: the calling thread would block on the GPU, and the GPU's work may wait for
  // that thread.
  if (must_not_drain_ || !wait_for_gpu(patience_ns) || !close_range(patience_ns)) return false;
  if (running() && (disable || !ranges_.empty())) {
    const bool decoded = on_large_stack([&] { return session_.end_batch(); });
    batches_.give(gpu, static_cast<std::uint16_t>(group_), ranges_,
                  decoded ? session_.image() : std::span<const std::uint8_t>{});
    ranges_.clear();
  }
  if (disable) on_large_stack([this] { session_.disable(); });
  return true;
}

void ExactContext::give_up() {
  if (!ranges_.empty()) batches_.give(gpu, static_cast<std::uint16_t>(group_), ranges_, {});
  ranges_.clear();
  open_ = stuck_ = false;
  if (may_drain(0)) on_large_stack([this] { session_.abandon(); });
}

}  // namespace rangefinder
