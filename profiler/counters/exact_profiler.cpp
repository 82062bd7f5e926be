// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/exact_profiler.h"

#include "profiler/counters/exact_session.h"
#include "profiler/events/recorder.h"

namespace rangefinder {
namespace {

/// Adds the time it lives to a counter.
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

constexpr std::size_t kMaxWaiting = 1 << 18;  // launches not yet taken by the drain thread: 50 MiB

}  // namespace

ExactProfiler::ExactProfiler(const CuptiLibrary& library, LossLedger& loss, std::uint32_t batch,
                             void (*on_refused)(void*, const std::string&), void* user)
    : library_(library), loss_(loss), batch_(batch), on_refused_(on_refused), user_(user) {
  measured_.reserve(std::size_t{batch} * 4);
}

ExactProfiler::~ExactProfiler() = default;

ExactSession* ExactProfiler::find_session(CUcontext context) noexcept {
  const std::size_t count = session_count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (sessions_[i]->context.load(std::memory_order_relaxed) == context) return sessions_[i].get();
  }
  return nullptr;
}

ExactSession* ExactProfiler::session_of(CUcontext context) noexcept {
  if (ExactSession* const known = find_session(context); known != nullptr) return known;
  const std::lock_guard guard(sessions_mutex_);
  if (ExactSession* const known = find_session(context); known != nullptr) return known;
  const std::size_t count = session_count_.load(std::memory_order_relaxed);
  if (count == kMaxContexts) return nullptr;
  try {
    sessions_[count] = std::make_unique<ExactSession>(library_, context, batch_);
  } catch (...) {
    return nullptr;
  }
  session_count_.store(count + 1, std::memory_order_release);
  return sessions_[count].get();
}

void ExactProfiler::refuse(const std::string& reason) noexcept {
  if (refused_.exchange(true)) return;
  on_refused_(user_, reason);
}

Unmeasured ExactProfiler::enter(CUcontext context) noexcept {
  if (refused_.load(std::memory_order_relaxed)) return Unmeasured::not_started;
  const HeldTime held(held_ns_);
  ExactSession* const session =
      finished_.load(std::memory_order_relaxed) ? find_session(context) : session_of(context);
  if (session == nullptr) return Unmeasured::not_started;
  if (session->owner.load(std::memory_order_relaxed) == std::this_thread::get_id()) return Unmeasured::busy;
  if (!session->lock.try_lock_for(kPatience)) {
    session->disturbed.store(true);
    return Unmeasured::busy;
  }
  // Only now: passing by the lock, this launch would end up in the range of the one that holds it.
  if (finished_.load(std::memory_order_relaxed)) {
    session->lock.unlock();
    return Unmeasured::not_started;
  }
  try {
    if (session->state() == ExactSession::State::idle) (void)session->start();
    session->disturbed.store(false);  // what went by before the range opens is not in it
    if (session->state() == ExactSession::State::running && session->push()) {
      session->owner.store(std::this_thread::get_id(), std::memory_order_relaxed);
      return Unmeasured::no;
    }
    if (session->state() == ExactSession::State::failed) refuse(session->error());
  } catch (...) {
    loss_.add(Loss::record_sink_errors);
  }
  session->lock.unlock();
  return Unmeasured::not_started;
}

void ExactProfiler::leave(CUcontext context, const ExactLaunch& launch) noexcept {
  const HeldTime held(held_ns_);
  ExactSession* const session = find_session(context);
  if (session == nullptr) return;
  try {
    if (session->pop(launch, launch.event.end_ns)) {
      session->decode(true);
      batches_.fetch_add(1, std::memory_order_relaxed);
      deliver(session->batch().data(), session->batch().size());
      session->clear_batch();
    }
    if (session->state() == ExactSession::State::failed) refuse(session->error());
  } catch (...) {
    loss_.add(Loss::record_sink_errors);
  }
  session->owner.store({}, std::memory_order_relaxed);
  session->lock.unlock();
}

void ExactProfiler::pass_by() noexcept {
  const std::size_t count = session_count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) sessions_[i]->disturbed.store(true);
}

void ExactProfiler::pass(const ExactLaunch& launch) noexcept {
  deliver(&launch, 1);
}

void ExactProfiler::deliver(const ExactLaunch* launches, std::size_t count) noexcept {
  std::uint64_t unmeasured = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool launched = launches[i].event.c == 0;
    if (launched && launches[i].unmeasured != Unmeasured::no) ++unmeasured;
  }
  if (unmeasured != 0) loss_.add(Loss::exact_unmeasured, unmeasured);
  const std::lock_guard guard(measured_mutex_);
  try {
    if (measured_.size() + count <= kMaxWaiting) {
      measured_.insert(measured_.end(), launches, launches + count);
      return;
    }
  } catch (...) {
  }
  loss_.add(Loss::events_dropped, count);
}

void ExactProfiler::take(std::vector<ExactLaunch>& out) {
  const std::lock_guard guard(measured_mutex_);
  out.insert(out.end(), measured_.begin(), measured_.end());
  measured_.clear();
}

void ExactProfiler::end(ExactSession& session, std::chrono::milliseconds patience) noexcept {
  if (session.owner.load(std::memory_order_relaxed) == std::this_thread::get_id())
    return;  // exit() inside a launch
  if (!session.lock.try_lock_for(patience)) return;
  if (session.context.load(std::memory_order_relaxed) != nullptr) {
    try {
      session.stop();
      deliver(session.batch().data(), session.batch().size());
      session.clear_batch();
    } catch (...) {
      loss_.add(Loss::record_sink_errors);
    }
    session.context.store(nullptr, std::memory_order_relaxed);
  }
  session.lock.unlock();
}

void ExactProfiler::context_destroyed(CUcontext context) noexcept {
  if (ExactSession* const session = find_session(context); session != nullptr) end(*session, kPatience);
}

void ExactProfiler::finish() noexcept {
  // A thread in the middle of a launch keeps its lock; at exit we cannot wait long for it.
  constexpr std::chrono::milliseconds kExitPatience{500};
  finished_.store(true);
  const std::size_t count = session_count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) end(*sessions_[i], kExitPatience);
}

}  // namespace rangefinder
