// SPDX-License-Identifier: Apache-2.0
//
// The NVML functions that we call, as a table of pointers.
//
// libnvidia-ml is part of the driver: loaded, never linked, and its header is not needed. The prototypes and
// structs below repeat its ABI, which the driver keeps. Any member may be nullptr: no driver, or an older
// one. Tests replace the table with fakes. A member has NVML's name without its prefix.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace rangefinder {

using NvmlReturn = int;
inline constexpr NvmlReturn kNvmlSuccess = 0;
inline constexpr NvmlReturn kNvmlNotSupported = 3;
inline constexpr NvmlReturn kNvmlNoPermission = 4;
inline constexpr NvmlReturn kNvmlInsufficientSize = 7;
inline constexpr NvmlReturn kNvmlTimeout = 10;
inline constexpr NvmlReturn kNvmlGpuIsLost = 15;

using NvmlDevice = struct NvmlDeviceOpaque*;
using NvmlEventSet = struct NvmlEventSetOpaque*;
using NvmlGpmSample = struct NvmlGpmSampleOpaque*;

inline constexpr int kNvmlClockSm = 1, kNvmlClockMemory = 2;
inline constexpr unsigned kNvmlGpmDramUsedPct = 10;  // of the DRAM's peak, between two samples
inline constexpr int kNvmlTemperatureGpu = 0;
inline constexpr int kNvmlEccCorrected = 0, kNvmlEccUncorrected = 1;
inline constexpr int kNvmlEccSinceDriverLoad = 0;
inline constexpr unsigned long long kNvmlEventXid = 8;
inline constexpr unsigned kNvmlFieldPowerCappedNs = 74, kNvmlFieldThermalCappedNs = 269;
inline constexpr unsigned long long kNvmlValueNotAvailable = ~0ULL;

struct NvmlUtilization {
  unsigned gpu_pct = 0;
  unsigned memory_pct = 0;
};

struct NvmlFieldValue {
  unsigned field_id = 0;
  unsigned scope_id = 0;
  long long timestamp_us = 0;
  long long latency_us = 0;
  int value_type = 0;  ///< see nvml_field_value()
  NvmlReturn result = 0;
  union {
    double real;
    unsigned u32;
    unsigned long long u64;
    int i32;
  } value{.u64 = 0};
};
static_assert(sizeof(NvmlFieldValue) == 40);

/// nvmlProcessInfo_v2_t, which the _v3 function fills.
struct NvmlProcess {
  unsigned pid = 0;  ///< in the driver's pid namespace, which is that of the host
  unsigned long long used_bytes = 0;
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};
static_assert(sizeof(NvmlProcess) == 24);

struct NvmlEvent {
  NvmlDevice device = nullptr;
  unsigned long long type = 0;
  unsigned long long data = 0;  ///< number of the XID
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};
static_assert(sizeof(NvmlEvent) == 32);

struct NvmlGpmMetric {
  unsigned id = 0;
  NvmlReturn result = 0;
  double value = 0;
  std::array<const char*, 3> texts{};  ///< names and unit
};
static_assert(sizeof(NvmlGpmMetric) == 40);

/// nvmlGpmMetricsGet_t, version 1. NVML reads and writes `count` metrics; its own struct has room for all.
struct NvmlGpmMetrics {
  static constexpr std::size_t kRoom = 333;
  unsigned version = 1;
  unsigned count = 1;
  NvmlGpmSample first = nullptr, second = nullptr;
  std::array<NvmlGpmMetric, kRoom> metrics{};
};

// The pointer's name, the function's name and its parameters. DeviceGetParent is of a MIG device.
#define RANGEFINDER_NVML_FUNCTIONS(X)                                                                    \
  X(Init, "nvmlInit_v2", ())                                                                             \
  X(DeviceGetHandleByUUID, "nvmlDeviceGetHandleByUUID", (const char*, NvmlDevice*))                      \
  X(DeviceGetParent, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle", (NvmlDevice, NvmlDevice*))          \
  X(DeviceGetClockInfo, "nvmlDeviceGetClockInfo", (NvmlDevice, int, unsigned*))                          \
  X(DeviceGetPowerUsage, "nvmlDeviceGetPowerUsage", (NvmlDevice, unsigned*))                             \
  X(DeviceGetEnforcedPowerLimit, "nvmlDeviceGetEnforcedPowerLimit", (NvmlDevice, unsigned*))             \
  X(DeviceGetTemperature, "nvmlDeviceGetTemperature", (NvmlDevice, int, unsigned*))                      \
  X(DeviceGetCurrentClocksEventReasons, "nvmlDeviceGetCurrentClocksEventReasons",                        \
    (NvmlDevice, unsigned long long*))                                                                   \
  X(DeviceGetUtilizationRates, "nvmlDeviceGetUtilizationRates", (NvmlDevice, NvmlUtilization*))          \
  X(DeviceGetFieldValues, "nvmlDeviceGetFieldValues", (NvmlDevice, int, NvmlFieldValue*))                \
  X(DeviceGetTotalEccErrors, "nvmlDeviceGetTotalEccErrors", (NvmlDevice, int, int, unsigned long long*)) \
  X(DeviceGetMigMode, "nvmlDeviceGetMigMode", (NvmlDevice, unsigned*, unsigned*))                        \
  X(DeviceGetComputeMode, "nvmlDeviceGetComputeMode", (NvmlDevice, int*))                                \
  X(DeviceGetComputeRunningProcesses, "nvmlDeviceGetComputeRunningProcesses_v3",                         \
    (NvmlDevice, unsigned*, NvmlProcess*))                                                               \
  X(EventSetCreate, "nvmlEventSetCreate", (NvmlEventSet*))                                               \
  X(DeviceRegisterEvents, "nvmlDeviceRegisterEvents", (NvmlDevice, unsigned long long, NvmlEventSet))    \
  X(EventSetWait, "nvmlEventSetWait_v2", (NvmlEventSet, NvmlEvent*, unsigned))                           \
  X(DeviceGetMaxClockInfo, "nvmlDeviceGetMaxClockInfo", (NvmlDevice, int, unsigned*))                    \
  X(DeviceGetMemoryBusWidth, "nvmlDeviceGetMemoryBusWidth", (NvmlDevice, unsigned*))                     \
  X(GpmSampleAlloc, "nvmlGpmSampleAlloc", (NvmlGpmSample*))                                              \
  X(GpmSampleGet, "nvmlGpmSampleGet", (NvmlDevice, NvmlGpmSample))                                       \
  X(GpmMetricsGet, "nvmlGpmMetricsGet", (NvmlGpmMetrics*))

struct NvmlFunctions {
#define X(name, symbol, parameters) NvmlReturn(*name) parameters = nullptr;
  RANGEFINDER_NVML_FUNCTIONS(X)
#undef X
};

/// Loads the library and leaves it loaded. All members are nullptr if there is none. Takes the loader's lock,
/// and runs the library's constructors: for our own threads. Calls no function of NVML.
[[nodiscard]] NvmlFunctions load_nvml() noexcept;

/// A field's value as an integer; 0 for a negative one.
[[nodiscard]] std::uint64_t nvml_field_value(const NvmlFieldValue& field) noexcept;

}  // namespace rangefinder
