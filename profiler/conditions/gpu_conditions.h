// SPDX-License-Identifier: Apache-2.0
//
// Clocks, power, load, errors and other users of one GPU, from NVML.
//
//   each turn           clocks, power, reasons for lower clocks, load, time at a cap, XIDs, DRAM bytes
//   every tenth turn    one of: ECC errors, processes, MIG, compute mode, power limit, temperature
//
// So no turn pays for all of the expensive calls, and the first second has incomplete values. kReadings is
// the table of calls and their periods. A call that fails leaves its value absent. One that is not supported
// or not permitted is not made again, and after the GPU is lost only XIDs are read.
//
// NVML may take locks of the driver, and may be slow: for our own thread, without a lock of ours. It is never
// shut down, because the order of exit handlers is not ours; the driver releases it with the process. One
// thread at a time. No allocation of ours.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "profiler/conditions/gpm_bytes.h"
#include "profiler/conditions/nvml_functions.h"
#include "schema/condition_record.h"

namespace rangefinder {

class GpuConditions {
 public:
  /// After nvmlInit. `uuid`: "GPU-…" or "MIG-…". The values of a MIG instance are those of its whole GPU,
  /// except for processes. `nvml` must outlive this. `self`: this process.
  GpuConditions(const NvmlFunctions& nvml, const char* uuid, pid_t self) noexcept;

  /// False: NVML does not know this GPU, and read() must not be called.
  [[nodiscard]] bool is_found() const noexcept { return device_ != nullptr; }
  /// One turn. The latest value of each reading: up to its period old. Only entries of ConditionOf::gpu.
  /// `now_ns`: a clock that is never set back.
  [[nodiscard]] const ConditionValues& read(std::int64_t now_ns) noexcept;
  /// From the next turn on: Condition::dram_mib too.
  void count_dram() noexcept { counts_dram_ = true; }
  /// After a pause: forgets the values, but not the XIDs, nor which calls are not available.
  void restart() noexcept;

 private:
  struct Reading {
    NvmlReturn (GpuConditions::*read)() noexcept;
    std::uint32_t period;  ///< turns
  };
  static constexpr std::size_t kReadingCount = 15;
  static constexpr std::size_t kXidReading = 0;  // its index in kReadings
  static const std::array<Reading, kReadingCount> kReadings;
  /// Maximum number of processes with their memory; of more, only the number is known.
  static constexpr unsigned kMaxProcesses = 128;
  static constexpr int kMaxXidsPerTurn = 16;

  NvmlReturn read_xids() noexcept;
  NvmlReturn read_sm_clock() noexcept;
  NvmlReturn read_memory_clock() noexcept;
  NvmlReturn read_power() noexcept;
  NvmlReturn read_throttle() noexcept;
  NvmlReturn read_utilization() noexcept;
  NvmlReturn read_capped_times() noexcept;
  NvmlReturn read_dram() noexcept;
  NvmlReturn read_ecc_corrected() noexcept;
  NvmlReturn read_ecc_uncorrected() noexcept;
  NvmlReturn read_processes() noexcept;
  NvmlReturn read_mig() noexcept;
  NvmlReturn read_compute_mode() noexcept;
  NvmlReturn read_power_limit() noexcept;
  NvmlReturn read_temperature() noexcept;

  void find(const char* uuid) noexcept;
  void register_xids() noexcept;
  void lose_gpu() noexcept;
  void keep_xids() noexcept;
  /// Stores a call's value, or that there is none. Returns `result`.
  NvmlReturn keep(Condition condition, NvmlReturn result, std::uint64_t value) noexcept;
  void count_processes(unsigned count) noexcept;

  const NvmlFunctions& nvml_;
  const pid_t self_;
  NvmlDevice device_ = nullptr;   // the GPU
  NvmlDevice visible_ = nullptr;  // the GPU, or the MIG instance
  NvmlEventSet events_ = nullptr;
  std::uint64_t turn_ = 0, xids_ = 0;
  std::optional<std::uint64_t> last_xid_;
  std::int64_t now_ns_ = 0;  // of this turn
  bool counts_dram_ = false;
  std::optional<GpmBytes> dram_;  // set if there is a device
  std::array<bool, kReadingCount> unavailable_{};
  ConditionValues values_{};
  std::array<NvmlProcess, kMaxProcesses> processes_{};
};

}  // namespace rangefinder
