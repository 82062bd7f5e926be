// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/exact/exact_profiler.h"

#include <algorithm>

#include "profiler/counters/current_context.h"
#include "profiler/events/hold_scope.h"
#include "profiler/events/recorder.h"

namespace rangefinder {
namespace {

/// Adds its lifetime to a counter.
class HeldTime {
 public:
  explicit HeldTime(std::atomic<std::uint64_t>& sum) noexcept : sum_(sum), start_ns_(clock_now_ns()) {}
  ~HeldTime() {
    const std::int64_t held = clock_now_ns() - start_ns_;
    if (held > 0) sum_.fetch_add(static_cast<std::uint64_t>(held), std::memory_order_relaxed);
  }
  HeldTime(const HeldTime&) = delete;
  HeldTime& operator=(const HeldTime&) = delete;

 private:
  std::atomic<std::uint64_t>& sum_;
  const std::int64_t start_ns_;
};

}  // namespace

ExactProfiler::ExactProfiler(const CuptiLibrary& library, Recorder& recorder, const Options& options,
                             const Hooks& hooks)
    : library_(library),
      recorder_(recorder),
      options_(options),
      hooks_(hooks),
      filter_(options, recorder),
      gpus_(library, recorder.loss, options.metrics, {hooks.user, hooks.prepared}),
      batches_(library.functions, recorder.loss) {}

ExactProfiler::~ExactProfiler() = default;

ExactContext* ExactProfiler::find(CUcontext context) noexcept {
  const std::size_t count = context_count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (contexts_[i]->context.load(std::memory_order_relaxed) == context) return contexts_[i].get();
  }
  return nullptr;
}

ExactContext* ExactProfiler::find_or_add(CUcontext context) noexcept {
  if (ExactContext* const known = find(context); known != nullptr || context == nullptr) return known;
  std::uint32_t gpu = 0;
  if (library_.functions.GetDeviceId(context, &gpu) != CUPTI_SUCCESS || gpu >= ExactGpus::kMaxGpus)
    return nullptr;
  const std::lock_guard guard(contexts_mutex_);
  if (ExactContext* const known = find(context); known != nullptr) return known;
  const std::size_t count = context_count_.load(std::memory_order_relaxed);
  if (count == kMaxContexts) return nullptr;
  try {
    contexts_[count] = std::make_unique<ExactContext>(library_, context, gpu, options_, batches_, recorder_);
  } catch (...) {
    return nullptr;
  }
  if (late_.load()) contexts_[count]->many_streams.store(true);
  // Before the context can be found: a thread that finds it waits for a build under way, or does not wait.
  gpus_.start_building(gpu, context);
  context_count_.store(count + 1, std::memory_order_release);
  return contexts_[count].get();
}

bool ExactProfiler::lock(ExactContext& context) noexcept {
  if (context.lock.try_lock()) return true;
  constexpr std::int64_t kMinLineNs = 1'000'000;  // shorter waits are many: one for each launch of a thread
  HoldScope hold(recorder_, HoldCause::launch_lock, kMinLineNs);
  const bool locked = context.lock.try_lock_for(kPatience);
  launch_lock_ns_.fetch_add(static_cast<std::uint64_t>(std::max<std::int64_t>(hold.end(), 0)),
                            std::memory_order_relaxed);
  return locked;
}

void ExactProfiler::note_context(CUcontext context) noexcept {
  if (!refused() && !finished_.load(std::memory_order_relaxed)) (void)find_or_add(context);
}

void ExactProfiler::note_wait(const ExactEntry& entry) noexcept {
  // A captured wait does not wait yet. The watchdog finds a graph launch that does not end.
  if (refused() || finished_.load(std::memory_order_relaxed) || capturing_.load()) return;
  ExactContext* const context = find_or_add(entry.context);
  if (context == nullptr) return;
  context->many_streams.store(true);
  launch_without_range(context, entry, true);
}

void ExactProfiler::capture_begins(const ExactEntry& entry) noexcept {
  if (capturing_.exchange(true)) return;  // another capture is in progress: no stream may be queried
  // Taking each lock waits for a tick() in progress. Later ones see capturing_ and skip the context.
  const std::size_t count = context_count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    ExactContext& context = *contexts_[i];
    if (context.owner.load(std::memory_order_relaxed) == std::this_thread::get_id()) continue;
    if (!lock(context)) continue;
    const HoldScope hold(recorder_, HoldCause::counter_range);
    try {
      if (context.context.load(std::memory_order_relaxed) == entry.context) context.finish_range();
      end_if_failed(context);
    } catch (...) {
      recorder_.loss.add(Loss::record_sink_errors);
    }
    context.lock.unlock();
  }
}

void ExactProfiler::refuse(const std::string& reason) noexcept {
  if (refused_.exchange(true)) return;
  hooks_.refused(hooks_.user, reason);
}

// Repeated calls are harmless: a context that gave up has no ranges left.
void ExactProfiler::end_if_failed(ExactContext& context) {
  if (context.session().state() != ExactSession::State::failed) return;
  refuse(context.session().error());
  context.give_up();
  gpus_.give_up_turn(context);
}

CounterOutcome ExactProfiler::enter(const ExactEntry& entry) noexcept {
  if (refused()) return CounterOutcome::not_started;
  const ExactChoice choice = filter_.choose(entry.name, entry.path);
  const HeldTime held(held_ns_);
  const bool finished = finished_.load(std::memory_order_relaxed);
  if (choice != ExactChoice::measure) {
    const bool may_wait = choice == ExactChoice::may_wait;
    launch_without_range(find(entry.context), entry, may_wait);
    return may_wait ? CounterOutcome::may_wait : CounterOutcome::not_wanted;
  }
  ExactContext* const context = finished ? find(entry.context) : find_or_add(entry.context);
  if (context == nullptr) return CounterOutcome::not_started;
  if (context->owner.load(std::memory_order_relaxed) == std::this_thread::get_id())
    return CounterOutcome::busy;
  if (!lock(*context)) {
    context->disturbed.store(true);
    return CounterOutcome::busy;
  }
  CounterOutcome outcome = CounterOutcome::not_started;
  try {
    // Checked under the lock: without it, this launch would be counted in the range of the lock's holder.
    if (!finished_.load(std::memory_order_relaxed)) outcome = measure(*context, entry);
    if (const std::uint32_t waiter = context->take_waiter(); waiter != 0) {
      filter_.add_waiter(waiter);
      hooks_.released(hooks_.user, waiter);
    }
    if (outcome == CounterOutcome::measured) {
      context->owner.store(std::this_thread::get_id(), std::memory_order_relaxed);
      return outcome;  // the lock stays held until leave()
    }
    context->launch_without_range(entry, false);
  } catch (...) {
    recorder_.loss.add(Loss::record_sink_errors);
  }
  context->lock.unlock();
  return outcome;
}

CounterOutcome ExactProfiler::measure(ExactContext& context, const ExactEntry& entry) {
  const CounterConfig* config = gpus_.config(context.gpu);
  if (config == nullptr) {
    const HoldScope hold(recorder_, HoldCause::session_start);
    config = gpus_.wait_for(context.gpu);
  }
  if (config == nullptr) return CounterOutcome::not_started;
  if (!config->error().empty()) {
    refuse(config->error());
    return CounterOutcome::not_started;
  }
  HoldScope turn(recorder_, HoldCause::counter_batch);  // it may hand the counters over to another context
  if (!gpus_.take_turn(context, entry.now_ns)) return CounterOutcome::turn;
  (void)turn.end();
  const CounterOutcome outcome = context.enter(entry, *config);
  end_if_failed(context);
  return outcome;
}

void ExactProfiler::launch_without_range(ExactContext* context, const ExactEntry& entry,
                                         bool may_wait) noexcept {
  if (context == nullptr || context->owner.load(std::memory_order_relaxed) == std::this_thread::get_id())
    return;
  if (!lock(*context)) {
    context->disturbed.store(true);
    return;
  }
  const HoldScope hold(recorder_, HoldCause::counter_range);
  try {
    context->launch_without_range(entry, may_wait);
    end_if_failed(*context);
  } catch (...) {
    recorder_.loss.add(Loss::record_sink_errors);
  }
  context->lock.unlock();
}

void ExactProfiler::leave(const ExactEntry& entry, ExactLaunch& launch) noexcept {
  const HeldTime held(held_ns_);
  ExactContext* const context = find(entry.context);
  if (context == nullptr) return;
  try {
    if (context->leave(entry, launch, next_range_.fetch_add(1, std::memory_order_relaxed)))
      batches_.give(launch);
    end_if_failed(*context);
  } catch (...) {
    recorder_.loss.add(Loss::record_sink_errors);
  }
  context->owner.store({}, std::memory_order_relaxed);
  context->lock.unlock();
}

void ExactProfiler::mark_all_disturbed() noexcept {
  const std::size_t count = context_count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) contexts_[i]->disturbed.store(true);
}

void ExactProfiler::stream_created(CUcontext context) noexcept {
  if (refused() || finished_.load(std::memory_order_relaxed)) return;
  if (ExactContext* const known = find_or_add(context); known != nullptr) known->many_streams.store(true);
}

void ExactProfiler::stream_destroyed(CUcontext context, CUstream stream) noexcept {
  ExactContext* const known = find(context);
  if (known == nullptr || stream == nullptr) return;
  if (known->owner.load(std::memory_order_relaxed) == std::this_thread::get_id()) return;
  if (!lock(*known)) return;
  const HoldScope hold(recorder_, HoldCause::counter_range);
  known->end_stream(stream, !capturing_.load());
  known->lock.unlock();
}

void ExactProfiler::take(std::vector<ExactLaunch>& out) {
  const auto config = [](void* gpus, std::uint32_t gpu) {
    return static_cast<ExactGpus*>(gpus)->config(gpu);
  };
  batches_.take(out, config, &gpus_);
}

void ExactProfiler::tick(std::int64_t now_ns) noexcept {
  try {
    const std::size_t count = context_count_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) tick_context(*contexts_[i], now_ns);
  } catch (...) {
    recorder_.loss.add(Loss::record_sink_errors);
  }
}

// A context without launches for a while delivers its last values and releases the counters.
void ExactProfiler::tick_context(ExactContext& context, std::int64_t now_ns) {
  if (finished_.load(std::memory_order_relaxed) || !context.lock.try_lock()) return;
  const std::int64_t quiet_ns = now_ns - context.last_ns();
  const CUcontext of = context.context.load(std::memory_order_relaxed);
  const bool disable = quiet_ns > kQuietNs;
  // Between batches the counters do not run, but are still held.
  const bool wanted =
      disable ? context.session().holds_counters()
              : context.running() && quiet_ns > ExactContext::kBatchNs && context.batch_due(now_ns);
  if (of != nullptr && wanted && !capturing_.load()) {
    const CurrentContext current(of);
    if (current.ok() && context.end_batch(0, disable) && disable) gpus_.give_up_turn(context);
    end_if_failed(context);
  }
  context.lock.unlock();
}

bool ExactProfiler::end(ExactContext& context, std::chrono::milliseconds patience, bool forget) noexcept {
  if (context.owner.load(std::memory_order_relaxed) == std::this_thread::get_id())
    return false;  // exit() inside a launch
  if (!context.lock.try_lock_for(patience)) return false;
  bool ended = true;
  if (const CUcontext of = context.context.load(std::memory_order_relaxed); of != nullptr) {
    try {
      const CurrentContext current(of);
      ended = context.end_batch(std::chrono::nanoseconds(patience).count(), true);
      end_if_failed(context);
    } catch (...) {
      recorder_.loss.add(Loss::record_sink_errors);
    }
    gpus_.give_up_turn(context);
    if (forget) context.context.store(nullptr, std::memory_order_relaxed);
  }
  context.lock.unlock();
  return ended;
}

void ExactProfiler::context_destroyed(CUcontext context) noexcept {
  if (ExactContext* const known = find(context); known != nullptr) {
    end(*known,
        std::chrono::duration_cast<std::chrono::milliseconds>(
            std::chrono::nanoseconds(ExactContext::kPatienceNs)),
        true);
  }
}

void ExactProfiler::finish() noexcept {
  // A thread inside a launch keeps its lock. At exit we cannot wait long for it.
  constexpr std::chrono::milliseconds kExitPatience{500};
  finished_.store(true);
  gpus_.cancel();
  (void)gpus_.wait_until_built(kExitPatience);  // a thread of ours may be inside CUPTI
  const std::size_t count = context_count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) end(*contexts_[i], kExitPatience, true);
}

bool ExactProfiler::pause(std::chrono::milliseconds patience) noexcept {
  finished_.store(true);
  bool all = gpus_.wait_until_built(patience);
  const std::size_t count = context_count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) all &= end(*contexts_[i], patience, false);
  return all;
}

void ExactProfiler::resume() noexcept {
  late_.store(true);
  capturing_.store(false);
  const std::size_t count = context_count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) contexts_[i]->many_streams.store(true);
  finished_.store(false);
}

}  // namespace rangefinder
