// SPDX-License-Identifier: Apache-2.0
//
// All data of the page's tables beyond totals, and the amounts of data from which the timeline (timeline.h)
// decides what to keep.
//
//   each chunk ─▶ add() ─▶ sections of the report, breakdowns, densities, longest ranges
//
// Memory grows with paths, names, streams, threads and allocations (memory_use.h), and with the page's
// limits. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/analysis/queries/gpu_timeline.h"
#include "tools/analysis/queries/iteration_log.h"
#include "tools/analysis/queries/kernel_table.h"
#include "tools/analysis/queries/measured_kernels.h"
#include "tools/analysis/queries/section.h"
#include "tools/analysis/report/run_summary.h"
#include "tools/page/detail_windows.h"
#include "tools/page/longest_items.h"
#include "tools/page/page_limits.h"
#include "tools/page/work_breakdown.h"

namespace rangefinder {

[[nodiscard]] inline StreamKey stream_of(const GpuWork& work) noexcept {
  return {work.gpu, work.context, work.stream};
}

/// An NVTX range that the page draws.
struct KeptRange {
  TimeNs start_ns = 0, end_ns = 0;
  std::uint64_t id = 0;
  std::uint32_t thread = 0;
  std::uint32_t path = 0;   ///< of a start/end range: the path it was opened in
  std::uint32_t name = 0;   ///< of a start/end range
  std::uint32_t color = 0;  ///< ARGB; 0: none
  bool open = false;        ///< never closed: it ends with the trace
  /// Span of the GPU work launched inside it; kNoTime: none.
  TimeNs gpu_start_ns = kNoTime, gpu_end_ns = kNoTime;
};
/// `last_ns`: the end of a range that was never closed.
[[nodiscard]] KeptRange kept_range(const RangeRecord& range, TimeNs last_ns);

/// A wait of a host thread that the page draws.
struct KeptSync {
  TimeNs start_ns = 0, end_ns = 0;
  std::uint32_t thread = 0, path = 0, api = 0;  ///< api: index in PageCounts::apis
};

/// A time in which the profiler held a thread, as the page draws it.
struct KeptHold {
  TimeNs start_ns = 0, end_ns = 0;
  std::uint32_t thread = 0;
  HoldCause cause = HoldCause::session_start;
};

class PageCounts {
 public:
  /// `all`: those of the whole trace. They must outlive this.
  PageCounts(const Iterations& all, const PageLimits& limits);

  static constexpr Columns kColumns =
      IterationLog::kColumns | kKernelsColumns | kHostCallColumns | Column::work_path | kAllRange;
  void add(const SelectedRows& rows);
  /// Call it after the last chunk, while the trace is there: it may need the chunks again.
  void finish(const EachRows& each);
  [[nodiscard]] std::uint32_t api(std::string_view name);

  const Iterations& found;
  RunSummaryReader summary;
  /// Those of the report; their tables are the page's. Kernels are in the order of select_kernels().
  const std::unique_ptr<Section> kernels = kKernelsSection.make({}), copies = kMemcpySection.make({}),
                                 memory = kMemorySection.make({}), iterations = kIterationsSection.make({});
  MeasuredKernels kernel_metrics;
  WorkBreakdown breakdown;
  TimeBins work{16'384};  ///< kernels, copies, memsets and whole graphs by start
  LongestItems<KeptRange> ranges;
  LongestItems<KeptSync> syncs;
  LongestItems<KeptHold> holds;
  std::map<StreamKey, std::uint64_t> streams;            ///< pieces of work
  std::unordered_map<std::uint32_t, std::string> names;  ///< of start/end ranges
  std::vector<std::string> apis;
  TimeNs first_ns = 0, last_ns = 0;  ///< span of everything drawn

 private:
  void add(const SyncRecord& sync);
  void add(const HoldRecord& hold);
  void add(const RangeRecord& range);
  void see(const GpuWork& piece);
  void see(TimeNs start, TimeNs end);
};

}  // namespace rangefinder
