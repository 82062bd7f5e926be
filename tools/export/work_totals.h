// SPDX-License-Identifier: Apache-2.0
//
// What ran on each GPU, summed by module and kernel: for formats that hold sums, not events.
//
//   lines ─▶ collect_work() ─▶ by (GPU, path, kind of work, kernel): count, time, bytes
//
// Sums are of the path itself, without what runs below it: they add up to the whole. Exact bytes are
// those of launches that were measured, at the path of the launch or of the counter range they share;
// nothing is estimated here. Memory grows with distinct paths and kernels.
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
  std::uint32_t name = 0;  ///< kernel_name of a kernel, CopyKind of a copy; else 0
  auto operator<=>(const WorkKey&) const = default;
};

struct WorkSum {
  std::uint64_t count = 0;  ///< records; of exact sums: launches, or counter ranges, that were measured
  std::uint64_t ns = 0;     ///< of those with times
  std::uint64_t bytes = 0;  ///< copies and memsets: as asked for
};

struct ExactSum {
  std::uint64_t measured = 0;  ///< launches, and counter ranges, with bytes
  std::uint64_t dram_read_bytes = 0, dram_write_bytes = 0, l2_bytes = 0;
};

struct WorkTotals {
  std::map<WorkKey, WorkSum> work;
  std::map<WorkKey, ExactSum> exact;  ///< of a counter range: kind graph and name 0
};

[[nodiscard]] WorkTotals collect_work(const TraceOutline& trace);

}  // namespace rangefinder
