// SPDX-License-Identifier: Apache-2.0
//
// The data of the page's timeline, in bounded memory.
//
//   PageCounts ─▶ windows, longest ranges ─┐
//   each chunk ────────────────────────────┴▶ each piece of work in the windows, with its launch
//                                             busy time of each stream everywhere
//                                             spans of ranges on the GPU, samples, memory in use, causes of
//                                             idle time, samples of the host's stacks
//
// Nothing is estimated: work that is not kept appears in the busy time of its stream.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tools/analysis/model/selected_rows.h"
#include "tools/analysis/queries/condition_log.h"
#include "tools/analysis/queries/idle_causes.h"
#include "tools/analysis/queries/stack_samples.h"
#include "tools/page/detail_windows.h"
#include "tools/page/memory_points.h"
#include "tools/page/page_counts.h"
#include "tools/page/range_spans.h"
#include "tools/page/sample_points.h"
#include "tools/page/stream_busy.h"

namespace rangefinder {

/// One kernel, copy, memset or whole graph in the page.
struct KeptWork {
  enum Kind : std::uint8_t { kernel, memcpy, memset, whole_graph };
  TimeNs start_ns = 0, end_ns = 0;
  std::uint32_t lane = 0;
  std::uint32_t stream = 0;  ///< needed in the lane of streams without their own lane
  Kind kind = kernel;
  std::uint32_t name = 0;  ///< kernel name id; of a copy, its CopyKind
  std::uint32_t config = 0, path = 0, correlation = 0, graph = 0;
  std::uint64_t range = 0;
  std::uint64_t bytes = 0;
  SeenLaunch launch;  ///< start_ns == kNoTime: unknown
};

/// A part of the time without a kernel.
struct KeptIdle {
  TimeNs start_ns = 0, end_ns = 0;
  IdleCause cause = IdleCause::queued;
};

struct KeptMark {
  TimeNs at_ns = 0;
  std::uint32_t thread = 0, name = 0;
};

class Timeline {
 public:
  /// Moves the longest ranges out of `counts`. All arguments must outlive this.
  Timeline(const TraceNames& names, PageCounts& counts, const PageLimits& limits);

  static constexpr Columns kColumns = kAllWork | kAllLaunch | Column::exact | kAllRange | Column::marks |
                                      Column::allocs | Column::samples | IdleCauses::kColumns;
  void add(const SelectedRows& rows);
  /// Call it after the last chunk.
  void finish();

  DetailWindows detail;
  std::vector<StreamKey> lanes;  ///< sorted by GPU, context, stream
  bool others = false;           ///< one more lane, for streams without their own
  StreamBusy busy;
  std::vector<KeptWork> work;  ///< sorted by lane, then by start
  std::vector<KeptRange> ranges;
  std::vector<KeptSync> syncs;
  std::vector<KeptHold> holds;
  LongestItems<KeptIdle> idle;
  StackSamples stacks;
  std::vector<KeptMark> marks;
  std::map<std::uint32_t, SamplePoints> samples;  ///< by GPU
  MemoryPoints memory;
  ConditionLog conditions;

 private:
  void add(const KernelRecord& kernel);
  void add(const MemcpyRecord& copy);
  void add(const MemsetRecord& memset);
  void add(const GraphRecord& graph);
  void add(const LaunchRecord& launch) { add_launch(seen(launch)); }
  void add(const ExactRecord& exact);
  void add(const RangeRecord& range);
  void add(const MarkRecord& mark);
  void add_work(const GpuWork& piece, KeptWork::Kind kind, std::uint32_t name, std::uint64_t bytes,
                std::uint32_t config = 0);
  [[nodiscard]] SeenLaunch seen(const LaunchRecord& launch);
  void add_launch(const SeenLaunch& launch);
  [[nodiscard]] std::uint32_t lane_of(const StreamKey& stream) const;
  /// The window that contains `time`; nullptr: none.
  [[nodiscard]] TimeWindow* window_at(TimeNs time);

  const TraceNames& names_;
  PageCounts& counts_;
  const PageLimits& limits_;
  IdleCauses idle_causes_;
  RangeSpans spans_;
  RecentLaunches launches_;
  std::unordered_set<std::uint64_t> kept_ranges_;  // ids
  std::vector<KeptRange> window_ranges_;
  std::unordered_map<const TimeWindow*, std::uint64_t> kept_in_;
  std::unordered_multimap<std::uint32_t, std::size_t> waiting_;  // work without launch, by correlation
};

}  // namespace rangefinder
