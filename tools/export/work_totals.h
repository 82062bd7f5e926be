// SPDX-License-Identifier: Apache-2.0
//
// GPU work summed by GPU, module and kernel, for formats with sums instead of events.
//
//   trace ─▶ load_work() ─┬─▶ by (GPU, path, kind of work, kernel): count, time, bytes
//                         └─▶ by (thread, host stack): sampled time
//
// Sums exclude the paths below, so they add up to the total. Exact bytes are those of measured launches, at
// the path of the launch or of its counter range; nothing is estimated. Paths are as `files` says. Reads the
// trace once. Memory grows with distinct paths, kernels and stacks; a sampled trace keeps its columns.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "profiler/attribution/condition_totals.h"
#include "tools/analysis/model/trace_names.h"
#include "tools/analysis/sampling/sampled_bytes.h"
#include "tools/export/time_span.h"

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
  std::uint64_t measured = 0;  ///< launches with bytes, each of a counter range too
  std::uint64_t dram_read_bytes = 0, dram_write_bytes = 0, l2_bytes = 0;
};

struct WorkTotals : TraceNames, CoveredTime {
  std::map<WorkKey, WorkSum> work;
  std::map<WorkKey, ExactSum> exact;    ///< a counter range has kind graph and name 0
  std::set<std::uint32_t> metric_sets;  ///< of the measured launches; several: sets that take turns
  ConditionTotals conditions;
  std::map<std::uint32_t, std::map<std::uint32_t, std::uint64_t>> stack_ns;  ///< by thread and stack
  std::optional<SampledTotals> sampled;  ///< of a trace with samples and without exact bytes
};

/// Throws Missing if the files cannot be read or are not a trace of this major version.
[[nodiscard]] WorkTotals load_work(const TraceFolder& files);

}  // namespace rangefinder
