// SPDX-License-Identifier: Apache-2.0
//
// What the application's threads write into and the drain thread reads from: the
// tables of names and paths, the threads' rings, the loss ledger.
//
// NVTX and CUPTI call plain C functions, so these need one well-known instance:
// recorder(), leaked on purpose, because either may still call while static
// destructors run. It exists from the first NVTX or CUDA call on; whether anything
// is written is the Session's business. Replay makes instances of its own.
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
  ThreadRegistry threads{*this};
  /// What events of the application's threads are stamped with; calibrated by the drain thread.
  TscClock clock;
  NamingLog naming;

  /// NVTX domains: id ▶ NameTable id of the domain's name; id 0 is the default domain.
  static constexpr std::uint32_t kMaxDomains = 1024;
  /// Same name, same id. All that do not fit share the last id, "(other)", counted as names_folded.
  [[nodiscard]] std::uint32_t add_domain(std::uint32_t name) noexcept;
  [[nodiscard]] std::uint32_t domain_count() const noexcept {
    return domains_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint32_t domain_name(std::uint32_t id) const noexcept {
    return domain_names_[id].load(std::memory_order_acquire);
  }

  /// `step 12345` becomes `step #` (option RANGEFINDER_FOLD_DIGITS). Set before the first event.
  std::atomic<bool> fold_digits{false};

  /// A session writes a trace. Set by the Session; a child forked meanwhile stays silent.
  std::atomic<bool> recording{false};

  /// What began before this time (CLOCK_REALTIME) is recorded: kAlways while a window is open, the
  /// window's end while what began in it may still end, kNever between windows.
  static constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();
  std::atomic<std::int64_t> record_until_ns{kAlways};
  [[nodiscard]] bool admits(std::int64_t start_ns) const noexcept {
    return start_ns < record_until_ns.load(std::memory_order_relaxed);
  }

  /// Is told of ranges, to open and close windows with them; nullptr: nobody is. Never destroyed.
  std::atomic<RangeTrigger*> trigger{nullptr};

  /// The child of a fork records nothing (design rule 5). Any thread. Never taken back.
  std::atomic<bool> silent{false};

  /// Takes a block of range ids.
  static constexpr std::uint64_t kRangeIdBlock = 1024;
  [[nodiscard]] std::uint64_t take_range_ids() noexcept {
    return next_range_.fetch_add(kRangeIdBlock, std::memory_order_relaxed);
  }

  /// Raised by a thread whose ring is half full; the drain thread sleeps on it (futex, private).
  std::atomic<std::uint32_t> wake{0};
  void wake_drain() noexcept;
  /// Drain thread: sleeps until somebody raises `wake`, lowers it again, or `limit` has passed.
  void sleep_until_woken(std::chrono::nanoseconds limit) noexcept;

  /// What the thread that forks holds meanwhile (begin_fork()): the locks in here, and what NVTX adds.
  ForkLocks fork_locks;
  /// In the child: silent from now on, or as if no thread had been here.
  void become_child() noexcept;

 private:
  std::atomic<std::uint64_t> next_range_{1};
  HostMutex domain_mutex_;
  std::atomic<std::uint32_t> domains_{1};
  std::array<std::atomic<std::uint32_t>, kMaxDomains> domain_names_{};
};

/// The one of this process. Its first caller also registers the handlers of fork().
[[nodiscard]] Recorder& recorder() noexcept;

}  // namespace rangefinder
