// SPDX-License-Identifier: Apache-2.0
//
// GPU work summed by GPU, module and kernel, for formats with sums instead of events.
//
//   lines ─▶ collect_work() ─▶ by (GPU, path, kind of work, kernel): count, time, bytes
//
// Sums exclude the paths below, so they add up to the total. Exact bytes are those of measured launches, at
// the path of the launch or of its counter range; nothing is estimated. Memory grows with distinct paths and
// kernels.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <utility>

#include "schema/record.h"
#include "tools/export/trace_outline.h"

namespace rangefinder {

struct WorkKey {
  std::uint32_t gpu = 0;
  std::uint32_t path = 0;  ///< 0: outside of any range
  WorkKind kind = WorkKind::kernel;
  std::uint32_t name = 0;  ///< kernel_name of a kernel, CopyKind of a copy; otherwise 0
  auto operator<=>(const WorkKey&) const = default;
};

struct WorkSum {
  std::uint64_t count = 0;  ///< kernels, copies, memsets or graphs
  std::uint64_t ns = 0;     ///< durations of timed work
  std::uint64_t bytes = 0;  ///< requested bytes of copies and memsets
};

struct ExactSum {
  std::uint64_t measured = 0;  ///< launches and counter ranges with bytes
  std::uint64_t dram_read_bytes = 0, dram_write_bytes = 0, l2_bytes = 0;
};

struct WorkTotals {
  std::map<WorkKey, WorkSum> work;
  std::map<WorkKey, ExactSum> exact;  ///< a counter range has kind graph and name 0
};

[[nodiscard]] WorkTotals collect_work(const TraceOutline& trace);

}  // namespace rangefinder
