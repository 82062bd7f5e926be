// SPDX-License-Identifier: Apache-2.0
//
// State of one application thread: its event ring, its open ranges, and caches that
// avoid the locks of the tables.
//
//   ThreadRegistry::use() ─▶ ThreadState ─┬─ ring    ▶ drain thread
//                                         ├─ stack   ▶ path and range of a launch
//                                         └─ caches  text ▶ name id, (parent, name) ▶ path id
//
// A state outlives its thread until the drain thread has emptied the ring. Then a new
// thread reuses it. Memory is bounded by kMaxThreads rings, of which kMaxLarge may be large.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <pthread.h>

#include "profiler/events/event_ring.h"
#include "profiler/events/graph_table.h"
#include "profiler/events/range_stack.h"
#include "profiler/guest/host_mutex.h"

namespace rangefinder {

class Recorder;

/// All methods: owner thread only, unless stated otherwise.
class ThreadState {
 public:
  explicit ThreadState(Recorder& recorder) noexcept : recorder_(recorder) {}

  /// Opens a range and returns its level in its domain, from 0, as NVTX does.
  int push(std::uint32_t domain, std::string_view text, const NvtxAttributes& attributes) noexcept;
  /// The same for a text that is already interned (registered strings).
  int push_name(std::uint32_t domain, std::uint32_t name, const NvtxAttributes& attributes) noexcept;
  /// Closes the innermost range of `domain` and returns its level; -2 (NVTX_NO_PUSH_POP_TRACKING)
  /// when there is none, which is counted. `extended`: payload of the end; used if the start had none.
  int pop(std::uint32_t domain, const NvtxPayload* extended = nullptr) noexcept;

  /// Name id of `text`, from the thread's cache or the table. Only push() folds digits.
  [[nodiscard]] std::uint32_t name_of(std::string_view text) noexcept;

  /// Puts an event into the ring, or counts it as dropped. Wakes the drain thread at half full.
  void emit(const Event& event, std::span<const std::byte> extra = {}) noexcept;
  /// The same with an extended payload in extra slots. Beyond kMaxPayloadBytes it is cut and counted.
  void emit_extended(Event event, const NvtxPayload& payload) noexcept;
  /// A hold event if this thread waited for a lock of ours. Call it after each lock: the hold must come
  /// before the ranges and calls that it is in (holds.h).
  void emit_lock_wait() noexcept;

  /// An id for a new range instance: unique in the process, dense.
  [[nodiscard]] std::uint64_t next_range_id() noexcept;

  /// Drain thread, when recording stops: adds a late event (event_ring.h) with kRangeUnclosed for every
  /// range opened before `now_ns` and still open. Returns their number; counts them as nvtx_unclosed.
  std::size_t close_all(std::int64_t now_ns) noexcept;

  /// Between the enter and the exit of a driver call. `number`: its own, from 1.
  void enter_call(std::uint16_t number) noexcept {
    captured_ = false;
    calls_.store(calls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    call_.store(static_cast<std::uint16_t>(number | kInside), std::memory_order_seq_cst);
  }
  /// The call that was entered puts work on the GPU.
  void begin_work(std::int64_t now_ns) noexcept { work_since_ns_.store(now_ns, std::memory_order_relaxed); }
  void leave_call() noexcept {
    captured_kernel_ = 0;
    work_since_ns_.store(kNoWork, std::memory_order_release);
    const auto last = static_cast<std::uint16_t>(call_.load(std::memory_order_relaxed) & ~kInside);
    call_.store(last, std::memory_order_release);
  }
  /// Any thread: number of the call entered last, or 0, with kInside while the owner is in it.
  static constexpr std::uint16_t kInside = 0x8000;
  [[nodiscard]] std::uint16_t call() const noexcept { return call_.load(std::memory_order_seq_cst); }
  /// Any thread: whether the owner is in a call whose work began before `until_ns`.
  [[nodiscard]] bool in_work_before(std::int64_t until_ns) const noexcept {
    return work_since_ns_.load(std::memory_order_acquire) < until_ns;
  }
  /// Any thread: number of driver calls entered; wraps around.
  [[nodiscard]] std::uint32_t calls() const noexcept { return calls_.load(std::memory_order_relaxed); }
  /// For CallsInProgress, guarded by its lock: calls() at its last check, and since when it has had that
  /// value.
  struct CallsSeen {
    std::uint32_t calls = 0;
    std::int64_t since_ns = 0;
  };
  [[nodiscard]] CallsSeen& calls_seen() const noexcept { return calls_seen_; }

  /// Owner: name id of the kernel that the current call captures, for the new graph node; 0: none.
  void capture_kernel(std::uint32_t name) noexcept { captured_kernel_ = name; }
  [[nodiscard]] std::uint32_t captured_kernel() const noexcept { return captured_kernel_; }
  /// Owner: the current call makes a graph node; whether it did.
  void note_captured() noexcept { captured_ = true; }
  [[nodiscard]] bool captured() const noexcept { return captured_; }
  /// Owner.
  [[nodiscard]] GraphCalls& graph_calls() noexcept { return graph_calls_; }
  /// Owner: a graph's handle and CUPTI's id of it, valid while `destroyed` is GraphTable::destroyed().
  struct LastGraph {
    const void* handle = nullptr;
    std::uint32_t id = 0, destroyed = 0;
  };
  [[nodiscard]] LastGraph& last_graph() noexcept { return last_graph_; }

  [[nodiscard]] const RangeStack& stack() const noexcept { return stack_; }
  /// Path and innermost range instance of what the thread does now.
  struct Place {
    std::uint32_t path = 0;
    std::uint64_t range = 0;
    bool inherited = false;  ///< of another thread, or below its path
  };
  [[nodiscard]] Place place() const noexcept {
    if (!inherits_.load(std::memory_order_relaxed)) [[likely]]
      return {stack_.path(), stack_.range(), false};
    return inherited_place();
  }
  /// Gives an event of the thread its place.
  void locate(Event& event) const noexcept {
    const Place now = place();
    event.path = now.path;
    event.range = now.range;
    if (now.inherited) event.flags |= kInherited;
  }
  /// gettid() of the owner; any thread.
  [[nodiscard]] std::uint32_t thread() const noexcept { return thread_.load(std::memory_order_relaxed); }
  /// Drain thread, after it has read an event of the thread: the thread's kernel name (comm) when this state
  /// was acquired.
  [[nodiscard]] const char* first_comm() const noexcept { return first_comm_.data(); }
  /// Drain thread.
  [[nodiscard]] EventRing& ring() noexcept { return ring_; }

 private:
  friend class ThreadRegistry;
  friend class ThreadUse;
  enum class Status : std::uint8_t { free, owned, ending };  // ending: thread ended, ring perhaps not empty

  struct CachedName {
    std::uint64_t hash = 0;
    std::uint32_t id = 0;  // 0: empty
    std::uint32_t bytes = 0;
    const char* data = nullptr;  // the NameTable's
  };
  struct CachedPath {
    std::uint32_t parent = 0, name = 0, domain = 0, id = 0;
  };

  [[nodiscard]] std::uint32_t path_of(std::uint32_t parent, std::uint32_t name,
                                      std::uint32_t domain) noexcept;
  [[nodiscard]] std::uint32_t folded_name_of(std::string_view text) noexcept;
  int push_at(std::int64_t now_ns, std::uint32_t domain, std::uint32_t name,
              const NvtxAttributes& attributes) noexcept;
  void finish_emit(bool pushed) noexcept;
  void emit_closed(const RangeStack::Range& range, std::uint64_t id, std::int64_t end_ns,
                   const NvtxPayload* at_end) noexcept;
  void count_refused() noexcept;
  [[nodiscard]] Place inherited_place() const noexcept;
  void set_base(std::uint32_t name, std::uint32_t domain) noexcept;
  void abandon_open() noexcept;               // owner, when its thread ends
  void reset(std::uint32_t thread) noexcept;  // for the next owner

  Recorder& recorder_;
  Status status_ = Status::free;  // guarded by the registry's mutex
  volatile bool in_use_ = false;  // owner and its signal handlers: ThreadUse
  static constexpr std::int64_t kNoWork = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> work_since_ns_{kNoWork};
  std::atomic<std::uint16_t> call_{0};
  std::atomic<std::uint32_t> calls_{0};
  mutable CallsSeen calls_seen_;
  std::uint32_t captured_kernel_ = 0;
  bool captured_ = false;
  GraphCalls graph_calls_;
  LastGraph last_graph_;
  std::atomic<std::uint32_t> thread_{0};
  std::array<char, 16> first_comm_{};  // size required by prctl(PR_GET_NAME)
  std::atomic<bool> inherits_{false};  // its name is one of those that inherit; ThreadRegistry sets it
  RangeStack stack_;
  std::array<CachedName, 1024> names_{};
  std::array<CachedPath, 1024> paths_{};
  std::uint64_t next_range_ = 0, last_range_ = 0;  // block of ids taken from the recorder
  EventRing ring_;
};

/// The calling thread's state during one call that writes into it. A signal handler that interrupts the call
/// may not write: its event is counted as dropped.
class ThreadUse {
 public:
  ~ThreadUse() {
    if (!taken_) return;
    std::atomic_signal_fence(std::memory_order_release);
    state_->in_use_ = false;
  }
  ThreadUse(const ThreadUse&) = delete;
  ThreadUse& operator=(const ThreadUse&) = delete;

  /// Whether the state may be written.
  explicit operator bool() const noexcept { return taken_; }
  ThreadState& operator*() const noexcept { return *state_; }
  ThreadState* operator->() const noexcept { return state_; }
  /// ThreadRegistry::current(), for reading, also if it may not be written.
  [[nodiscard]] ThreadState* state() const noexcept { return state_; }
  [[nodiscard]] bool refused() const noexcept { return state_ != nullptr && !taken_; }

 private:
  friend class ThreadRegistry;
  explicit ThreadUse(ThreadState* state) noexcept : state_(state), taken_(state != nullptr) {
    if (state == nullptr) return;
    if (state->in_use_) [[unlikely]] {
      taken_ = false;
      state->count_refused();
      return;
    }
    state->in_use_ = true;
    std::atomic_signal_fence(std::memory_order_acquire);
  }

  ThreadState* const state_;
  bool taken_;
};

/// The states of all threads.
class ThreadRegistry {
 public:
  static constexpr std::uint32_t kMaxLarge = 16;    // rings of busy threads, 4 MiB more each
  static constexpr std::uint32_t kMaxThreads = 80;  // 80 rings of 0.6 MiB: the memory budget is in session.h

  explicit ThreadRegistry(Recorder& recorder) noexcept;
  ~ThreadRegistry();
  ThreadRegistry(const ThreadRegistry&) = delete;
  ThreadRegistry& operator=(const ThreadRegistry&) = delete;

  /// State of the calling thread, acquired on its first call. nullptr: too many threads (counted), silent
  /// child of a fork, or the thread is ending.
  [[nodiscard]] ThreadState* current() noexcept;
  /// The same for writing.
  [[nodiscard]] ThreadUse use() noexcept { return ThreadUse(current()); }
  /// ThreadState::emit_lock_wait() of the calling thread, for locks that are taken without its state. Makes
  /// no state unless it waited.
  void emit_lock_wait() noexcept;

  /// Drain thread: `visit(ThreadState&)` for every state that ever had an owner.
  template <typename Visit>
  void for_each(Visit&& visit) {
    const std::uint32_t n = count_.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < n; ++i) visit(*states_[i].load(std::memory_order_acquire));
  }

  /// Any thread: whether some thread is in a call whose work began before `until_ns`.
  [[nodiscard]] bool any_work_before(std::int64_t until_ns) noexcept {
    bool any = false;
    for_each([&](const ThreadState& state) { any |= state.in_work_before(until_ns); });
    return any;
  }

  /// Before a window opens, without a reader: discards events that came too late for the last window.
  void discard_events() noexcept;

  /// Drain thread: gives a larger ring to a thread that fills its own, up to kMaxLarge of them.
  void enlarge(ThreadState& state) noexcept {
    if (large_rings_ < kMaxLarge && state.ring().enlarge()) ++large_rings_;
  }

  /// Drain thread: frees the states of ended threads whose rings are empty, for new threads.
  void recycle() noexcept;

  /// The thread ended: called by the destructor of its thread-specific key.
  void release(ThreadState& state) noexcept;

  /// Threads with a name that matches one of `globs` (fnmatch, separated by commas) inherit the path of the
  /// one other thread that has ranges open. Before the first window.
  void set_inheriting(std::string globs) noexcept;

  /// Where the one thread with open ranges is that does not inherit; {} if there is none. Several are
  /// counted.
  [[nodiscard]] ThreadState::Place only_place() noexcept;

  /// In the child of fork(), with mutex() unlocked: all states become free, without open ranges or events.
  void forget_after_fork() noexcept;

  [[nodiscard]] HostMutex& mutex() noexcept { return mutex_; }

 private:
  /// With the mutex held.
  [[nodiscard]] bool inherits(const char* comm) const noexcept;
  [[nodiscard]] ThreadState* find_or_acquire() noexcept;
  [[nodiscard]] ThreadState* acquire() noexcept;

  Recorder& recorder_;
  // Identifies the registry in the threads' caches: tests create several, even at the same address.
  const std::uint64_t serial_;
  pthread_key_t key_{};
  bool key_made_ = false;
  HostMutex mutex_;
  std::string inheriting_;         // guarded by mutex_
  std::uint32_t large_rings_ = 0;  // drain thread
  std::atomic<std::uint32_t> count_{0};
  std::array<std::atomic<ThreadState*>, kMaxThreads> states_{};
};

}  // namespace rangefinder
