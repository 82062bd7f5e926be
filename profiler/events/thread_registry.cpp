// SPDX-License-Identifier: Apache-2.0
//
// ThreadRegistry, and of ThreadState all but its ranges (nvtx/thread_ranges.cpp).
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "profiler/events/host_lock.h"
#include "profiler/events/recorder.h"
#include "profiler/events/thread_state.h"

namespace rangefinder {
namespace {

// Trivial to construct and destroy, so it can be read at any moment of a thread's life.
struct ThreadCache {
  std::uint64_t serial = 0;  // of the registry that `state` is of
  ThreadState* state = nullptr;
  bool ended = false;         // the destructor of the thread-specific key ran
  std::uint32_t refused = 0;  // calls answered with nullptr because there were too many threads
};
thread_local ThreadCache t_cache;

constexpr auto kRelaxed = std::memory_order_relaxed;

std::atomic<std::uint64_t> g_next_serial{1};

// A refused thread asks again now and then: states come back when other threads end.
constexpr std::uint32_t kAskAgainAfter = 1024;

}  // namespace

std::uint64_t ThreadState::next_range_id() noexcept {
  if (next_range_ == last_range_) {
    next_range_ = recorder_.take_range_ids();
    last_range_ = next_range_ + Recorder::kRangeIdBlock;
  }
  return next_range_++;
}

void ThreadState::emit_extended(Event event, const NvtxPayload& payload) noexcept {
  std::byte extra[sizeof payload.schema + kMaxPayloadBytes];
  const std::size_t data_bytes = std::min<std::size_t>(payload.bytes, kMaxPayloadBytes);
  if (data_bytes < payload.bytes) recorder_.loss.add(Loss::payloads_truncated);
  const std::size_t bytes = sizeof payload.schema + data_bytes;
  std::memcpy(extra, &payload.schema, sizeof payload.schema);
  if (data_bytes != 0) std::memcpy(extra + sizeof payload.schema, payload.data, data_bytes);
  event.extra_bytes = static_cast<std::uint16_t>(bytes);
  event.extra_slots = static_cast<std::uint8_t>((bytes + sizeof(Event) - 1) / sizeof(Event));
  emit(event, {extra, bytes});
}

void ThreadState::emit(const Event& event, std::span<const std::byte> extra) noexcept {
  if (names_something(event.kind) && !recorder_.naming.add(thread(), event)) [[unlikely]]
    recorder_.loss.add(Loss::record_sink_errors);
  if (!recorder_.admits(event.start_ns)) return;  // between two windows
  finish_emit(ring_.push(event, extra));
}

void ThreadState::finish_emit(bool pushed) noexcept {
  if (!pushed) [[unlikely]]
    recorder_.loss.add(Loss::events_dropped);
  if (ring_.half_full()) [[unlikely]]
    recorder_.wake_drain();
}

// With the registry's mutex held. The caches stay: they are of the same tables.
void ThreadState::reset(std::uint32_t thread) noexcept {
  status_ = Status::owned;
  in_use_ = false;
  thread_.store(thread, kRelaxed);
  call_since_ns_.store(kNoCall, kRelaxed);
  prctl(PR_GET_NAME, first_comm_.data());
  stack_.depth_.store(0, std::memory_order_release);
  stack_.path_ = 0;
  stack_.range_ = 0;
  stack_.too_deep_total_ = 0;
  stack_.too_deep_ = {};
  payloads_used_ = 0;
}

ThreadRegistry::ThreadRegistry(Recorder& recorder) noexcept
    : recorder_(recorder), serial_(g_next_serial.fetch_add(1, kRelaxed)) {
  const auto on_thread_exit = [](void* value) {
    ThreadState& state = *static_cast<ThreadState*>(value);
    t_cache = {};
    t_cache.ended = true;
    state.recorder_.threads.release(state);
  };
  key_made_ = pthread_key_create(&key_, on_thread_exit) == 0;
}

ThreadRegistry::~ThreadRegistry() {
  if (key_made_) pthread_key_delete(key_);
  for (auto& state : states_) delete state.load(kRelaxed);
}

ThreadState* ThreadRegistry::current() noexcept {
  if (recorder_.silent.load(kRelaxed)) return nullptr;
  const ThreadCache& cache = t_cache;
  if (cache.serial == serial_) [[likely]]
    return cache.state;
  return find_or_acquire();
}

void ThreadState::count_refused() noexcept {
  recorder_.loss.add(Loss::events_dropped);
}

ThreadState* ThreadRegistry::find_or_acquire() noexcept {
  if (t_cache.ended || !key_made_) return nullptr;
  auto* state = static_cast<ThreadState*>(pthread_getspecific(key_));
  if (state == nullptr) {
    if (t_cache.refused != 0 && t_cache.refused++ % kAskAgainAfter != 0) return nullptr;
    state = acquire();
    if (state == nullptr) {
      if (t_cache.refused++ == 0) recorder_.loss.add(Loss::threads_without_ring);
      return nullptr;
    }
    t_cache.refused = 0;
    pthread_setspecific(key_, state);
  }
  t_cache.serial = serial_;
  t_cache.state = state;
  return state;
}

ThreadState* ThreadRegistry::acquire() noexcept {
  const auto thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
  const HostLock lock(mutex_);
  if (!lock) return nullptr;
  const std::uint32_t count = count_.load(kRelaxed);
  for (std::uint32_t i = 0; i < count; ++i) {
    ThreadState* const state = states_[i].load(kRelaxed);
    // Between windows nobody reads rings, and nobody recycles.
    const bool unread =
        state->status_ == ThreadState::Status::ending && !recorder_.admits(Recorder::kNever + 1);
    if (state->status_ != ThreadState::Status::free && !unread) continue;
    if (unread) state->ring_.clear();
    state->reset(thread);
    return state;
  }
  if (count == kMaxThreads) return nullptr;
  auto* const state = new (std::nothrow) ThreadState(recorder_);
  if (state == nullptr) return nullptr;
  state->reset(thread);
  states_[count].store(state, std::memory_order_release);
  count_.store(count + 1, std::memory_order_release);
  return state;
}

void ThreadRegistry::release(ThreadState& state) noexcept {
  state.abandon_open();
  state.leave_call();  // a thread that was cancelled in a call is in none
  const HostLock lock(mutex_);
  if (lock) state.status_ = ThreadState::Status::ending;
}

void ThreadRegistry::recycle() noexcept {
  const HostLock lock(mutex_);
  const std::uint32_t count = lock ? count_.load(kRelaxed) : 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    ThreadState& state = *states_[i].load(kRelaxed);
    if (state.status_ == ThreadState::Status::ending && state.ring_.empty()) {
      state.status_ = ThreadState::Status::free;
    }
  }
}

void ThreadRegistry::discard_events() noexcept {
  const HostLock lock(mutex_);
  if (!lock) return;
  for_each([](ThreadState& state) { state.ring_.drain([](const Event&) {}); });
}

void ThreadRegistry::forget_after_fork() noexcept {
  t_cache = {};
  if (key_made_) pthread_setspecific(key_, nullptr);
  const std::uint32_t count = count_.load(kRelaxed);
  for (std::uint32_t i = 0; i < count; ++i) {
    ThreadState& state = *states_[i].load(kRelaxed);
    state.reset(0);
    state.ring_.clear();
    state.status_ = ThreadState::Status::free;
  }
}

}  // namespace rangefinder
