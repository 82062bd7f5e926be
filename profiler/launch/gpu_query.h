// SPDX-License-Identifier: Apache-2.0
//
// The driver's description of this process's GPUs.
//
// The driver is already loaded (it loaded us), so its functions are looked up, never
// linked. Drain thread only: CUDA calls inside callbacks may hang.
#pragma once

#include <cstdint>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

/// All visible GPUs, by CUDA ordinal; empty without a driver. cuInit must have been called.
[[nodiscard]] std::vector<GpuRecord> query_gpus();

/// Whether cuInit has returned on any thread; also true if that cannot be determined.
[[nodiscard]] bool driver_is_ready();

/// Whether any GPU has an active primary context, the one that the CUDA runtime uses; false without a
/// driver.
[[nodiscard]] bool has_primary_context();

/// cuDriverGetVersion: 13000 is CUDA 13.0; 0 without a driver.
[[nodiscard]] std::int32_t query_driver_version();

/// cudaRuntimeGetVersion of the shared runtime that this process has mapped; 0 if there is none. A
/// statically linked runtime is not found. Creates no context and loads nothing.
[[nodiscard]] std::int32_t query_runtime_version();

/// Dense peak FLOP/s by type at `clock_khz`, from the CUDA Programming Guide's throughput table and
/// NVIDIA's architecture papers; empty for a chip that is not in the table.
[[nodiscard]] std::vector<std::pair<std::string, double>> peak_flops(std::uint32_t major, std::uint32_t minor,
                                                                     std::uint32_t sm_count,
                                                                     std::uint64_t clock_khz);

}  // namespace rangefinder
