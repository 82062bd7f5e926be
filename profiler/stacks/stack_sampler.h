// SPDX-License-Identifier: Apache-2.0
//
// Our thread that samples the host stacks of Python threads, a hundred times a second.
//
//   PythonFrames ─▶ PythonCode ─▶ StackTable      one open StackSampleRecord a thread ─▶ take() ─▶ drain
//   thread
//
// No signal, no GIL, no stop of the threads that are read. If turns take more than kMaxShare of a core, they
// become less frequent. A missed deadline is skipped, not made up for. While no window records, the thread
// sleeps. It finds the interpreter in its first turn, never on a thread of the application.
//
// The mutex is never held during a read or a file operation, so any thread may enter. turn() is one reading;
// tests call it without the thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "profiler/events/name_table.h"
#include "profiler/events/stack_table.h"
#include "profiler/stacks/own_memory.h"
#include "profiler/stacks/python_code.h"
#include "profiler/stacks/python_frames.h"
#include "profiler/stacks/python_runtime.h"
#include "schema/stack_record.h"

namespace rangefinder {

class StackSampler {
 public:
  static constexpr std::int64_t kMinIntervalNs = 10'000'000, kMaxIntervalNs = 1'280'000'000;
  /// CPU time of the thread, of wall time. With the first second, which reads all functions, it stays below 1
  /// %.
  static constexpr double kMaxShare = 0.009;
  /// A record ends after kRecordNs, and after kWaitingNs if its thread has one stack in it.
  static constexpr std::int64_t kRecordNs = 1'000'000'000, kWaitingNs = 5'000'000'000;
  static constexpr std::size_t kMaxRecords = 16'384, kMaxThreads = 4096;

  struct Sources {
    std::int64_t (*now_ns)() = nullptr;  ///< CLOCK_REALTIME
    NameTable& names;
    StackTable& stacks;
    bool omits_files = false;  ///< frames have neither file nor line
    /// CPU time of the calling thread.
    std::uint64_t (*cpu_ns)() = nullptr;
  };

  explicit StackSampler(const Sources& sources);
  StackSampler(const StackSampler&) = delete;
  StackSampler& operator=(const StackSampler&) = delete;

  // Any thread.
  /// Once. False: cannot start a thread.
  [[nodiscard]] bool start() noexcept;
  /// A window begins.
  void resume() noexcept;
  /// No window records: no readings until resume(). Open records become available to take(), if the turn in
  /// progress ends within `patience`.
  void pause(std::chrono::milliseconds patience) noexcept;
  /// Ends the thread. False: it is still in a turn after `patience`, so this object must not be destroyed.
  [[nodiscard]] bool stop(std::chrono::milliseconds patience) noexcept;

  /// Drain thread: the records that ended since the last call. Their times are absolute, CLOCK_REALTIME.
  /// `out` is replaced.
  void take(std::vector<StackSampleRecord>& out);

  // Any thread.
  /// Samples that were torn, or for which the log had no room.
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }
  /// CPU time of the thread so far.
  [[nodiscard]] std::uint64_t cpu_ns() const noexcept { return cpu_ns_.load(std::memory_order_relaxed); }

  // The sampler's thread only, or a test's.
  /// One reading of all threads. False: there is no interpreter that can be read.
  bool turn();
  /// Ends all open records.
  void close_records();
  [[nodiscard]] std::int64_t interval_ns() const noexcept { return interval_ns_; }

 private:
  struct Reader {
    PythonRuntime runtime;
    PythonFrames frames;
    PythonCode code;
    Reader(PythonRuntime found, const OwnMemory& memory, const PythonCode::Tables& tables)
        : runtime(std::move(found)), frames(runtime, memory), code(runtime, memory, tables) {}
  };
  struct Thread {
    StackSampleRecord record;
    PythonCode::Latest latest;
    bool one_stack = true;
    std::uint64_t turn = 0;  // of the last sample
  };

  void run() noexcept;
  [[nodiscard]] bool wait_for_turn(std::int64_t& deadline_ns);
  [[nodiscard]] bool find_interpreter();
  void add(const PythonThread& thread, std::int64_t at_ns);
  void close(Thread& thread);
  void follow_cost(std::int64_t now_ns);
  void set_interval(std::int64_t interval_ns);

  const Sources sources_;
  std::atomic<std::uint64_t> lost_{0}, cpu_ns_{0};

  // Sampler's thread only.
  std::optional<OwnMemory> memory_;
  std::unique_ptr<Reader> reader_;
  bool given_up_ = false;
  std::unordered_map<std::uint32_t, Thread> threads_;
  std::uint64_t turn_ = 0, torn_ = 0;
  std::int64_t interval_ns_ = kMinIntervalNs;
  std::int64_t measured_from_ns_ = 0;
  std::uint64_t measured_cpu_ns_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<StackSampleRecord> log_;
  bool started_ = false, paused_ = true, idle_ = false, stopping_ = false, ended_ = false;
};

/// Whether the thread runs on a core, by /proc; false if it is not known.
[[nodiscard]] bool thread_runs(std::uint32_t thread) noexcept;

}  // namespace rangefinder
