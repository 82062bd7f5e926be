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

#include "tools/analysis/queries/whole_trace.h"

namespace rangefinder {

inline constexpr std::size_t kMaxStretches = 5'000;
/// Times of all lines: the stretches are equal parts of the whole trace.
inline constexpr Columns kTimelineColumns = Column::work_times | Column::work_place | Column::copies |
                                            Column::launch_times | Column::range_times | Column::syncs |
                                            Column::allocs | Column::events | Column::captures |
                                            Column::overheads | Column::marks | Column::samples;

/// [{time_unix_ms, start_ns, duration_ns, gpu, kernels, graphs, gpu_ns, copies, memcpy_ns, memcpy_bytes,
/// dram_read_bytes, …}], sorted by time. `trace`: with kTimelineColumns.
[[nodiscard]] nlohmann::ordered_json timeline_rows(WholeTrace& trace, std::size_t stretches);

}  // namespace rangefinder
