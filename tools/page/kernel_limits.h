// SPDX-License-Identifier: Apache-2.0
//
// What limits each kernel, for colours: the limiter of its measured launches, else of its sampled bytes.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "tools/analysis/queries/measured_kernels.h"
#include "tools/analysis/queries/row_values.h"

namespace rangefinder {

/// By name: "dram", "l2", "compute", "latency" (Limiter), or "below_dram": less than kRoofShare of the DRAM's
/// peak, while other roofs were not measured. Kernels whose bytes are unknown have no entry.
[[nodiscard]] std::unordered_map<std::uint32_t, std::string> kernel_limits(const TraceTotals& trace,
                                                                           const RowValues& values,
                                                                           const MeasuredKernels& measured);
/// For people: "limited by DRAM"; of an empty key: "not measured".
[[nodiscard]] std::string limit_text(const std::string& key);

}  // namespace rangefinder
