// SPDX-License-Identifier: Apache-2.0
//
// A trace over time: the work of each GPU in N equal stretches.
//
//   kernels, copies ─▶ divided over the stretches they cover   ┐
//   hardware samples ─▶ the stretch that holds their middle    ┴▶ a row per GPU and non-empty stretch
//
// Sums over the rows are the sums of the trace. Bytes come from hardware samples; without samples there are
// none. Memory does not grow with the trace.
#pragma once

#include <cstddef>

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/read/trace_files.h"

namespace rangefinder {

inline constexpr std::size_t kMaxStretches = 5'000;

/// [{time_unix_ms, start_ns, duration_ns, gpu, kernels, graphs, gpu_ns, copies, memcpy_ns, memcpy_bytes,
/// dram_read_bytes, …}], sorted by time. Throws Missing if the trace cannot be read.
[[nodiscard]] nlohmann::ordered_json timeline_rows(const TraceFolder& files, std::size_t stretches);

}  // namespace rangefinder
