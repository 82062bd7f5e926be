// SPDX-License-Identifier: Apache-2.0
//
// Our thread that reads the conditions, ten times a second.
//
//   add_gpu() ─▶ GpuConditions, one a GPU ─┐
//                ProcessConditions ────────┴▶ ConditionChanges ─┬─▶ bounded log ─▶ take() ─▶ drain thread
//                ThreadConditions ──────────────────────────────┘
//
// A missed deadline is skipped, not made up for. When the log is full, records are lost and counted, and the
// next ones after that are complete again. While no window records, the thread sleeps. It sets nothing up
// before its first turn: files are opened and NVML is loaded there, never on a thread of the application.
//
// The mutex is never held during a call of NVML, a file operation or an allocation, so any thread may enter.
// turn() is one reading; tests call it without the thread.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/conditions/condition_changes.h"
#include "profiler/conditions/gpu_conditions.h"
#include "profiler/conditions/nvml_functions.h"
#include "profiler/conditions/process_conditions.h"
#include "profiler/conditions/thread_conditions.h"
#include "schema/condition_record.h"

namespace rangefinder {

class ConditionSampler {
 public:
  static constexpr std::int64_t kPeriodNs = 100'000'000;
  static constexpr std::size_t kMaxRecords = 4096;
  static constexpr std::size_t kMaxGpus = 64;

  struct Sources {
    std::int64_t (*now_ns)() = nullptr;                      ///< CLOCK_REALTIME
    bool counts_dram = false;                                ///< from the first turn on
    NvmlFunctions (*load_nvml)() = &rangefinder::load_nvml;  ///< called once, when there is a GPU to read
    std::string root = {};                                   ///< what is before /proc; empty except in tests
  };

  explicit ConditionSampler(const Sources& sources);
  ConditionSampler(const ConditionSampler&) = delete;
  ConditionSampler& operator=(const ConditionSampler&) = delete;

  // Any thread.
  /// From the callback of a context's creation: `id` and `uuid` of the `gpu` line. Does nothing for a known
  /// id, or beyond kMaxGpus. No allocation, no I/O.
  void add_gpu(std::uint32_t id, std::string_view uuid) noexcept;
  /// Counts the DRAM's bytes too, of every GPU from its next turn on. For the rest of the process.
  void count_dram() noexcept { counts_dram_.store(true, std::memory_order_relaxed); }
  /// Once. False: cannot start a thread.
  [[nodiscard]] bool start() noexcept;
  /// No window records: no readings until resume(). A turn in progress ends, and its records stay in the log.
  void pause() noexcept;
  /// A window begins: earlier values are forgotten, and the next record of each subject is complete. Threads
  /// follow when their next scan is due.
  void resume() noexcept;
  /// A trace segment begins: the next record of each subject is complete. The turn after this call has them.
  void forget() noexcept;
  /// Ends the thread. False: it is still in a call after `patience`, so this object must not be destroyed.
  [[nodiscard]] bool stop(std::chrono::milliseconds patience) noexcept;

  /// Drain thread: the records since the last call, in the order of time. `at_ns` is absolute,
  /// CLOCK_REALTIME. `out` is replaced; it allocates in the first call only if the same vector is passed each
  /// time.
  void take(std::vector<ConditionRecord>& out);

  // Any thread.
  /// Records for which the log had no room.
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }
  /// Turns that ended with an exception.
  [[nodiscard]] std::uint64_t errors() const noexcept { return errors_.load(std::memory_order_relaxed); }
  /// ThreadConditions::skipped().
  [[nodiscard]] std::uint64_t skipped_threads() const noexcept {
    return skipped_threads_.load(std::memory_order_relaxed);
  }
  /// CPU time of the thread so far.
  [[nodiscard]] std::uint64_t cpu_ns() const noexcept { return cpu_ns_.load(std::memory_order_relaxed); }

  /// One reading of everything that is due. The sampler's thread only, or a test's. `now_ns`: a clock that is
  /// never set back.
  void turn(std::int64_t now_ns);
  /// The first time of the grid `deadline_ns` + n * kPeriodNs after `now_ns`.
  [[nodiscard]] static constexpr std::int64_t next_deadline_ns(std::int64_t deadline_ns,
                                                               std::int64_t now_ns) noexcept {
    const std::int64_t late = now_ns > deadline_ns ? (now_ns - deadline_ns) / kPeriodNs : 0;
    return deadline_ns + (late + 1) * kPeriodNs;
  }

 private:
  /// NVML's texts have 41 characters; its own buffers 96.
  static constexpr std::size_t kMaxUuidBytes = 96;
  struct AddedGpu {
    std::uint32_t id = 0;
    std::array<char, kMaxUuidBytes> uuid{};  // ends with a 0
  };
  struct Gpu {
    std::uint32_t id;
    GpuConditions conditions;
  };
  enum class Nvml : std::uint8_t { not_loaded, ready, unavailable };

  void run() noexcept;
  [[nodiscard]] bool wait_for_turn(std::int64_t& deadline_ns);  // false: stop() was called
  void follow_requests();
  void open_added_gpus();
  void open_gpu(const AddedGpu& added);
  [[nodiscard]] bool start_nvml();
  void add_values(ConditionOf subject, std::uint32_t id, TimeNs at_ns, const ConditionValues& values);
  void add_record(const ConditionRecord& record);

  const Sources sources_;
  std::atomic<std::uint64_t> lost_{0}, errors_{0}, skipped_threads_{0}, cpu_ns_{0};

  std::atomic<bool> counts_dram_;

  // Sampler's thread only.
  NvmlFunctions nvml_;
  Nvml nvml_state_ = Nvml::not_loaded;
  std::vector<std::unique_ptr<Gpu>> gpus_;
  std::unique_ptr<ProcessConditions> process_;
  std::unique_ptr<ThreadConditions> threads_;
  ConditionChanges changes_;
  std::size_t opened_gpus_ = 0;  // of added_

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<ConditionRecord> log_;  // capacity kMaxRecords
  std::array<AddedGpu, kMaxGpus> added_{};
  std::size_t added_count_ = 0;
  bool started_ = false, paused_ = false, stopping_ = false, ended_ = false;
  bool restart_requested_ = false, forget_requested_ = false;
};

}  // namespace rangefinder
