// SPDX-License-Identifier: Apache-2.0
//
// What the driver says about the GPUs of this process.
//
// The driver is there already (it loaded us), so its functions are looked up, never
// linked. Called from the drain thread only: CUDA calls inside callbacks may hang.
#pragma once

#include <cstdint>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

/// All visible GPUs, by CUDA ordinal; empty without a driver. cuInit must have been called.
[[nodiscard]] std::vector<GpuRecord> query_gpus();

/// Whether cuInit has returned, in whichever thread; also true where nobody can tell.
[[nodiscard]] bool driver_is_ready();

/// Whether a GPU's primary context exists, which is the one that the CUDA runtime uses; false without a
/// driver.
[[nodiscard]] bool has_primary_context();

/// cuDriverGetVersion: 13000 is CUDA 13.0; 0 without a driver.
[[nodiscard]] std::int32_t query_driver_version();

/// cudaRuntimeGetVersion of the shared runtime that this process has mapped; 0: it has none. One that
/// is linked statically cannot be seen. Makes no context, and loads nothing.
[[nodiscard]] std::int32_t query_runtime_version();

/// Dense peak FLOP/s by type at `clock_khz`, from the rates of the CUDA Programming Guide's
/// throughput table and NVIDIA's architecture papers; empty for a chip that is not in the table.
[[nodiscard]] std::vector<std::pair<std::string, double>> peak_flops(std::uint32_t major, std::uint32_t minor,
                                                                     std::uint32_t sm_count,
                                                                     std::uint64_t clock_khz);

}  // namespace rangefinder
