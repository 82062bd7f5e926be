// SPDX-License-Identifier: Apache-2.0
//
// The first pass over a trace: all data of the page's tables beyond totals, and the amounts of data from
// which the second pass (timeline.h) decides what to keep.
//
//   load_trace(…, &counts) ─▶ every line, once ─▶ breakdowns, iterations, densities, longest ranges
//
// Memory grows with paths, names, streams and threads, and with the page's limits. Not thread-safe.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/analysis/findings/findings.h"
#include "tools/analysis/tables/measured_kernels.h"
#include "tools/analysis/tables/section.h"
#include "tools/analysis/timeline/gpu_timeline.h"
#include "tools/page/iteration_rows.h"
#include "tools/page/longest_items.h"
#include "tools/page/page_limits.h"
#include "tools/page/time_bins.h"
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

class PageCounts final : public Section {
 public:
  PageCounts(Iterations iterations, const PageLimits& limits);

  void line(const Line& line) override;
  /// Empty: the page uses the members directly.
  [[nodiscard]] std::vector<Table> tables(const SectionInput&) override { return {}; }
  /// The rows of `report --section kernels --json`, in the order of select_kernels().
  [[nodiscard]] nlohmann::ordered_json kernel_rows(const SectionInput& input);
  [[nodiscard]] std::uint32_t api(std::string_view name);

  FindingRules rules;
  MeasuredKernels kernel_metrics;
  WorkBreakdown breakdown;
  IterationRows iterations;
  TimeBins work{16'384};  ///< kernels, copies, memsets and whole graphs by start
  LongestItems<KeptRange> ranges;
  LongestItems<KeptSync> syncs;
  LongestItems<KeptHold> holds;
  std::map<StreamKey, std::uint64_t> streams;  ///< pieces of work
  std::map<std::uint32_t, std::string> threads;
  std::set<std::uint32_t> range_threads;
  std::map<std::uint32_t, std::uint32_t> null_streams;  ///< by context
  std::unordered_map<std::uint32_t, LaunchConfigRecord> configs;
  std::unordered_map<std::uint32_t, std::string> names;  ///< of start/end ranges
  std::vector<std::string> apis;
  std::uint64_t samples = 0, allocations = 0;
  TimeNs first_ns = 0, last_ns = 0;  ///< span of everything drawn

 private:
  template <typename Other>
  void take(const Other&) {}
  void take(const KernelRecord& kernel);
  void take(const MemcpyRecord& copy);
  void take(const MemsetRecord& memset);
  void take(const GraphRecord& graph);
  void take(const LaunchRecord& launch) { iterations.add(launch); }
  void take(const ExactRecord& exact) { iterations.add(exact); }
  void take(const SyncRecord& sync);
  void take(const HoldRecord& hold);
  void take(const RangeRecord& range);
  void take(const SamplesRecord& samples_line);
  void take(const AllocRecord&) { ++allocations; }
  void take(const ThreadRecord& thread) { threads[thread.id] = thread.name; }
  void take(const ContextRecord& context) { null_streams[context.id] = context.null_stream; }
  void take(const LaunchConfigRecord& config) { configs.emplace(config.id, config); }
  void take(const NameRecord& name) { names.emplace(name.id, name.text); }
  void see(const GpuWork& piece);
  void see(TimeNs start, TimeNs end);

  std::unique_ptr<Section> kernels_;
};

}  // namespace rangefinder
