// SPDX-License-Identifier: Apache-2.0
//
// Conditions under which the program ran: clocks, power, temperature and load of a GPU; CPU time, memory,
// input and output of the process; CPU time of a thread. A line has only the values that changed since the
// line before it about the same subject in the segment, so a value holds until the next line that has it.
//
//   {"t":"condition","at":81500,"gpu":0,"sm_mhz":1980,"power_w":351}      a GPU
//   {"t":"condition","at":81510,"cpu_ms":5210,"rss_mib":812}              the process
//   {"t":"condition","at":81520,"thread":4712,"cpu_ms":990}               a thread
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "profiler/base/duration.h"

namespace rangefinder {

enum class ConditionOf : std::uint8_t { gpu, process, thread };

/// In the order of kConditions.
enum class Condition : std::uint8_t {
  sm_mhz,
  memory_mhz,
  power_w,
  power_limit_w,
  temperature_c,
  throttle,
  gpu_busy_pct,
  memory_busy_pct,
  power_capped_ms,
  thermal_capped_ms,
  ecc_corrected,
  ecc_uncorrected,
  xids,
  last_xid,
  mig,
  compute_mode,
  other_processes,
  other_memory_mib,
  dram_mib,
  cpu_ms,
  rss_mib,
  swap_mib,
  minor_faults,
  major_faults,
  involuntary_switches,
  read_mib,
  written_mib,
  received_mib,
  sent_mib,
  millicores,
  quota_throttled_ms,
};

struct ConditionInfo {
  std::string_view key;
  std::string_view title;  ///< for people, with the unit
  ConditionOf subject;     ///< `process`: cpu_ms is also of threads
  bool counts = false;  ///< grows from the start of the process or of the driver: differences have a meaning
  /// A smaller change is not written.
  std::uint64_t least = 1;
};

inline constexpr std::array<ConditionInfo, 31> kConditions{{
    {"sm_mhz", "SM clock, MHz", ConditionOf::gpu},           // NVML: clock of the SMs
    {"memory_mhz", "memory clock, MHz", ConditionOf::gpu},   // NVML: clock of the memory
    {"power_w", "power, W", ConditionOf::gpu, false, 2},     // NVML: power draw
    {"power_limit_w", "power limit, W", ConditionOf::gpu},   // NVML: the limit in force
    {"temperature_c", "temperature, °C", ConditionOf::gpu},  // NVML: of the GPU's die
    {"throttle", "clocks lowered by", ConditionOf::gpu},     // NVML: reasons as bits, see kThrottleReasons
    {"gpu_busy_pct", "busy, any process, %", ConditionOf::gpu, false,
     5},  // NVML: time with a kernel running, of any process
    {"memory_busy_pct", "memory busy, any process, %", ConditionOf::gpu, false,
     5},  // NVML: time with device memory read or written
    {"power_capped_ms", "clocks lowered for power, ms", ConditionOf::gpu, true,
     10},  // NVML: clocks below those requested, for power
    {"thermal_capped_ms", "clocks lowered for heat, ms", ConditionOf::gpu, true,
     10},  // NVML: the same, for temperature
    {"ecc_corrected", "ECC errors, corrected", ConditionOf::gpu,
     true},  // NVML: errors since the driver was loaded
    {"ecc_uncorrected", "ECC errors, uncorrected", ConditionOf::gpu, true},  // NVML
    {"xids", "XID errors", ConditionOf::gpu, true},      // NVML: XID errors since recording began
    {"last_xid", "last XID", ConditionOf::gpu},          // NVML: number of the last one
    {"mig", "MIG mode", ConditionOf::gpu},               // NVML: 1 = MIG mode is on
    {"compute_mode", "compute mode", ConditionOf::gpu},  // NVML: 0 default, 2 prohibited, 3 exclusive process
    {"other_processes", "other processes",
     ConditionOf::gpu},  // NVML: processes with a context, without this one
    {"other_memory_mib", "memory of other processes, MiB", ConditionOf::gpu, false,
     64},  // NVML: GPU memory of them
    {"dram_mib", "DRAM read and written, any process, MiB", ConditionOf::gpu,
     true},  // NVML GPM: since recording began; only where bytes come from GPM
    {"cpu_ms", "CPU time, ms", ConditionOf::process, true, 20},           // getrusage; the thread's CPU clock
    {"rss_mib", "resident memory, MiB", ConditionOf::process, false, 4},  // /proc/self/statm
    {"swap_mib", "swapped out, MiB", ConditionOf::process},               // /proc/self/status: VmSwap
    {"minor_faults", "minor page faults", ConditionOf::process, true, 256},  // getrusage
    {"major_faults", "major page faults", ConditionOf::process, true},  // getrusage: pages read from a disk
    {"involuntary_switches", "involuntary context switches", ConditionOf::process, true,
     8},  // getrusage: the scheduler took the core away
    {"read_mib", "read from disks, MiB", ConditionOf::process, true},      // /proc/self/io: read from disks
    {"written_mib", "written to disks, MiB", ConditionOf::process, true},  // /proc/self/io
    {"received_mib", "received from the network, MiB", ConditionOf::process,
     true},  // /proc/self/net/dev, of the network namespace
    {"sent_mib", "sent to the network, MiB", ConditionOf::process, true},  // /proc/self/net/dev
    {"millicores", "cores allowed, thousandths",
     ConditionOf::process},  // cores allowed × 1000: affinity and the cgroup's quota
    {"quota_throttled_ms", "stopped by the CPU quota, ms", ConditionOf::process, true,
     5},  // cgroup: time stopped because the quota was used up
}};
inline constexpr std::size_t kConditionCount = kConditions.size();

/// Bits of Condition::throttle, with NVML's numbers.
struct ThrottleReason {
  std::uint64_t bit;
  std::string_view name;
};
inline constexpr std::array<ThrottleReason, 9> kThrottleReasons{{
    {0x1, "gpu_idle"},
    {0x2, "clock_setting"},
    {0x4, "sw_power_cap"},
    {0x8, "hw_slowdown"},
    {0x10, "sync_boost"},
    {0x20, "sw_thermal"},
    {0x40, "hw_thermal"},
    {0x80, "hw_power_brake"},
    {0x100, "display_clock"},
}};

/// Values of one subject by Condition; absent: not available.
using ConditionValues = std::array<std::optional<std::uint64_t>, kConditionCount>;

/// One reading. In a line only what changed is present.
struct ConditionRecord {
  TimeNs at_ns = 0;  ///< relative to Header::base_unix_ns
  ConditionOf subject = ConditionOf::process;
  std::uint32_t id = 0;  ///< of the GPU or thread; 0 for the process
  ConditionValues values{};
};

}  // namespace rangefinder
