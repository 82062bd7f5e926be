// SPDX-License-Identifier: Apache-2.0
//
// The data that application threads write and the drain thread reads: tables of names
// and paths, the threads' event rings, the loss ledger.
//
// NVTX and CUPTI call plain C functions, which need one global instance: recorder().
// It is never destroyed, because either may still call while static destructors run. It
// exists from the first NVTX or CUDA call; the Session decides whether anything is
// written. Replay creates its own instances.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

#include <time.h>

#include "profiler/events/name_table.h"
#include "profiler/events/naming_log.h"
#include "profiler/events/path_table.h"
#include "profiler/events/range_trigger.h"
#include "profiler/events/stack_table.h"
#include "profiler/events/thread_state.h"
#include "profiler/events/tsc_clock.h"
#include "profiler/guest/fork_locks.h"
#include "profiler/guest/host_mutex.h"
#include "schema/loss.h"

namespace rangefinder {

class Recorder {
 public:
  Recorder() noexcept;

  LossLedger loss;
  NameTable names{loss};
  PathTable paths{loss};
  StackTable stacks{loss};
  ThreadRegistry threads{*this};
  /// Gives events of application threads their times; calibrated by the drain thread.
  TscClock clock;
  NamingLog naming;
  GraphTable graphs{loss};

  /// NVTX domains: id ▶ NameTable id of the domain's name; id 0 is the default domain.
  static constexpr std::uint32_t kMaxDomains = 1024;
  /// Same name, same id. Domains that do not fit share the last id, "(other)", counted as names_folded.
  [[nodiscard]] std::uint32_t add_domain(std::uint32_t name) noexcept;
  [[nodiscard]] std::uint32_t domain_count() const noexcept {
    return domains_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint32_t domain_name(std::uint32_t id) const noexcept {
    return domain_names_[id].load(std::memory_order_acquire);
  }

  /// `step 12345` becomes `step #` (option RANGEFINDER_FOLD_DIGITS). Set before the first event.
  std::atomic<bool> fold_digits{false};

  /// A session writes a trace. Set by the Session. A child forked while it is set stays silent.
  std::atomic<bool> recording{false};

  /// Events that began before this time (CLOCK_REALTIME) are recorded. kAlways while a window is open; the
  /// window's end while events that began in it may still end; kNever between windows.
  static constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();
  std::atomic<std::int64_t> record_until_ns{kAlways};
  [[nodiscard]] bool admits(std::int64_t start_ns) const noexcept {
    return start_ns < record_until_ns.load(std::memory_order_relaxed);
  }

  /// Notified of ranges that may open or close windows; nullptr: none. Never destroyed.
  std::atomic<RangeTrigger*> trigger{nullptr};

  /// The child of a fork records nothing (design rule 5). Any thread. Never reset to false.
  std::atomic<bool> silent{false};

  /// Takes a block of range ids.
  static constexpr std::uint64_t kRangeIdBlock = 1024;
  [[nodiscard]] std::uint64_t take_range_ids() noexcept {
    return next_range_.fetch_add(kRangeIdBlock, std::memory_order_relaxed);
  }

  /// Raised by a thread whose ring is half full; the drain thread sleeps on it (futex, private).
  std::atomic<std::uint32_t> wake{0};
  void wake_drain() noexcept;
  /// Drain thread: sleeps until `wake` is raised or `limit` has passed, then lowers `wake`.
  void sleep_until_woken(std::chrono::nanoseconds limit) noexcept;

  /// Locks held during fork() (begin_fork()): those of this class, and those that the NVTX code adds.
  ForkLocks fork_locks;
  /// In the child of fork(): becomes silent, or forgets all threads.
  void become_child() noexcept;

 private:
  std::atomic<std::uint64_t> next_range_{1};
  HostMutex domain_mutex_;
  std::atomic<std::uint32_t> domains_{1};
  std::array<std::atomic<std::uint32_t>, kMaxDomains> domain_names_{};
};

/// The instance of this process. The first call also registers the fork handlers.
[[nodiscard]] Recorder& recorder() noexcept;

}  // namespace rangefinder
