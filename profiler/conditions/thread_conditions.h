// SPDX-License-Identifier: Apache-2.0
//
// CPU time of every thread of this process.
//
//   /proc/self/task ─▶ thread ids ─▶ the CPU clock of each ─▶ records of those whose time has grown by
//                                                             ConditionInfo::least since their last record
//
// A thread without a record has used less than that. A scan is made at most once a second, and so rarely that
// its own CPU time is at most 0.05 % of the time between scans. One thread at a time. Allocates in the
// constructor only.
#pragma once

#include <dirent.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "profiler/guest/owned_file.h"
#include "profiler/guest/thread_cpu.h"
#include "schema/condition_record.h"

namespace rangefinder {

class ThreadConditions {
 public:
  /// Further threads are skipped and counted.
  static constexpr std::size_t kMaxThreads = 4096;
  static constexpr std::int64_t kMinIntervalNs = 1'000'000'000;
  /// Time between scans over CPU time of a scan: 0.05 %.
  static constexpr std::int64_t kIntervalOverCost = 2000;

  /// `root`: what is before /proc; empty except in tests. `cost_ns`: CPU time of the calling thread.
  explicit ThreadConditions(const std::string& root = {}, std::uint64_t (*cost_ns)() = &thread_cpu_ns);
  ~ThreadConditions();
  ThreadConditions(const ThreadConditions&) = delete;
  ThreadConditions& operator=(const ThreadConditions&) = delete;

  /// `now_ns`: a clock that is never set back.
  [[nodiscard]] bool is_due(std::int64_t now_ns) const noexcept { return now_ns >= next_ns_; }
  /// Passes the records to `sink`. The next scan is due after an interval from `now_ns` on. `at_ns`: time of
  /// the records.
  void scan(std::int64_t now_ns, TimeNs at_ns, const std::function<void(const ConditionRecord&)>& sink);
  /// The next scan has a record of each thread that has used at least ConditionInfo::least in its life.
  void forget() noexcept { threads_.clear(); }
  /// Readings of threads beyond kMaxThreads, which were not made.
  [[nodiscard]] std::uint64_t skipped() const noexcept { return skipped_; }

 private:
  struct Thread {
    std::uint32_t id;
    std::uint32_t scan;        // the last one that found it
    std::uint64_t written_ms;  // of the last record; 0: none
  };
  [[nodiscard]] Thread* find_or_add(std::uint32_t id);
  void read_thread(std::uint32_t id, TimeNs at_ns, const std::function<void(const ConditionRecord&)>& sink);

  std::uint64_t (*const cost_ns_)();
  OwnedFile file_;  // of folder_, which the application may close
  DIR* folder_ = nullptr;
  std::vector<Thread> threads_;  // by id
  std::uint32_t scan_ = 0;
  std::int64_t next_ns_ = 0;
  std::uint64_t skipped_ = 0;
};

}  // namespace rangefinder
