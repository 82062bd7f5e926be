// SPDX-License-Identifier: Apache-2.0
#include <fnmatch.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "profiler/events/recorder.h"
#include "profiler/events/thread_state.h"
#include "profiler/guest/host_lock.h"

namespace rangefinder {
namespace {

// Trivial to construct and destroy, so it can be read at any time in a thread's life.
struct ThreadCache {
  std::uint64_t serial = 0;  // of the registry that owns `state`
  ThreadState* state = nullptr;
  bool ended = false;         // the destructor of the thread-specific key ran
  std::uint32_t refused = 0;  // calls that returned nullptr because there were too many threads
};
thread_local ThreadCache t_cache;

std::atomic<std::uint64_t> g_next_serial{1};

// A refused thread retries after this many calls: states become free when other threads end.
constexpr std::uint32_t kRetryAfter = 1024;

}  // namespace

ThreadRegistry::ThreadRegistry(Recorder& recorder) noexcept
    : recorder_(recorder), serial_(g_next_serial.fetch_add(1, std::memory_order_relaxed)) {
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
  for (auto& state : states_) delete state.load(std::memory_order_relaxed);
}

ThreadState* ThreadRegistry::current() noexcept {
  if (recorder_.silent.load(std::memory_order_relaxed)) return nullptr;
  const ThreadCache& cache = t_cache;
  if (cache.serial == serial_) [[likely]]
    return cache.state;
  return find_or_acquire();
}

void ThreadRegistry::emit_lock_wait() noexcept {
  if (!waited_for_lock()) return;
  if (const ThreadUse state = use()) state->emit_lock_wait();
}

ThreadState* ThreadRegistry::find_or_acquire() noexcept {
  if (t_cache.ended || !key_made_) return nullptr;
  auto* state = static_cast<ThreadState*>(pthread_getspecific(key_));
  if (state == nullptr) {
    if (t_cache.refused != 0 && t_cache.refused++ % kRetryAfter != 0) return nullptr;
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
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < count; ++i) {
    ThreadState* const state = states_[i].load(std::memory_order_relaxed);
    // Between windows the drain thread neither reads rings nor recycles states.
    const bool unread =
        state->status_ == ThreadState::Status::ending && !recorder_.admits(Recorder::kNever + 1);
    if (state->status_ != ThreadState::Status::free && !unread) continue;
    if (unread) state->ring_.clear();
    state->reset(thread);
    state->inherits_.store(inherits(state->first_comm()), std::memory_order_relaxed);
    return state;
  }
  if (count == kMaxThreads) return nullptr;
  auto* const state = new (std::nothrow) ThreadState(recorder_);
  if (state == nullptr) return nullptr;
  state->reset(thread);
  state->inherits_.store(inherits(state->first_comm()), std::memory_order_relaxed);
  states_[count].store(state, std::memory_order_release);
  count_.store(count + 1, std::memory_order_release);
  return state;
}

void ThreadRegistry::set_inheriting(std::string globs) noexcept {
  const HostLock lock(mutex_);
  if (!lock) return;
  inheriting_.swap(globs);
  for_each([this](ThreadState& state) {
    state.inherits_.store(inherits(state.first_comm()), std::memory_order_relaxed);
  });
}

bool ThreadRegistry::inherits(const char* comm) const noexcept {
  char glob[64];
  for (std::size_t at = 0; at < inheriting_.size();) {
    const std::size_t end = std::min(inheriting_.find(',', at), inheriting_.size());
    const std::size_t bytes = std::min(end - at, sizeof glob - 1);
    inheriting_.copy(glob, bytes, at);
    glob[bytes] = '\0';
    if (bytes != 0 && fnmatch(glob, comm, 0) == 0) return true;
    at = end + 1;
  }
  return false;
}

ThreadState::Place ThreadRegistry::only_place() noexcept {
  ThreadState::Place out;
  bool several = false;
  for_each([&](const ThreadState& state) {
    if (several || state.inherits_.load(std::memory_order_relaxed)) return;
    const auto [path, range] = state.stack().innermost_of_other();
    if (range == 0) return;
    several = out.range != 0;
    out = {path, range, true};
  });
  if (!several) return out;
  recorder_.loss.add(Loss::inherit_ambiguous);
  return {};
}

void ThreadRegistry::release(ThreadState& state) noexcept {
  state.abandon_open();
  state.leave_call();  // the thread may have been cancelled inside a call
  const HostLock lock(mutex_);
  if (lock) state.status_ = ThreadState::Status::ending;
}

void ThreadRegistry::recycle() noexcept {
  const HostLock lock(mutex_);
  const std::uint32_t count = lock ? count_.load(std::memory_order_relaxed) : 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    ThreadState& state = *states_[i].load(std::memory_order_relaxed);
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
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < count; ++i) {
    ThreadState& state = *states_[i].load(std::memory_order_relaxed);
    state.reset(0);
    state.ring_.clear();
    state.status_ = ThreadState::Status::free;
  }
}

}  // namespace rangefinder
