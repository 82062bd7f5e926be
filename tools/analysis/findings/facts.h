// SPDX-License-Identifier: Apache-2.0
//
// What the rules read of a trace, collected in one pass over its chunks.
//
//   rows ─┬─ calls ─▶ CallLog, CaptureCalls, StreamWaits
//         └─ work with its launch (LaunchedWork) ─▶ KernelFacts, GpuGaps, CallLog, work_patterns.h
//
// If a GPU has long gaps, the rows are read again for the host's ranges and calls in them (HostTimeline).
//
// Memory grows with paths, names, streams and threads; call_log.h, host_timeline.h, stream_waits.h and, if
// the trace has stacks, stack_samples.h keep more and state it. One thread.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tools/analysis/findings/call_log.h"
#include "tools/analysis/findings/capture_calls.h"
#include "tools/analysis/findings/coverage.h"
#include "tools/analysis/findings/kernel_facts.h"
#include "tools/analysis/findings/work_patterns.h"
#include "tools/analysis/model/launched_work.h"
#include "tools/analysis/model/selected_rows.h"
#include "tools/analysis/queries/gpu_gaps.h"
#include "tools/analysis/queries/host_timeline.h"
#include "tools/analysis/queries/idle_causes.h"
#include "tools/analysis/queries/iteration_log.h"
#include "tools/analysis/queries/stack_samples.h"
#include "tools/analysis/queries/stream_waits.h"

namespace rangefinder {

class FindingFacts {
 public:
  static constexpr Columns kColumns = LaunchedWork::kColumns | IterationLog::kColumns | Column::launch_path |
                                      Column::allocs | Column::events | Column::captures |
                                      Column::range_times | Column::range_thread | Column::range_path;

  /// `iterations` and `idle` must outlive this. `idle` reads the same rows; nullptr: not needed.
  explicit FindingFacts(const Iterations& iterations, IdleCauses* idle = nullptr)
      : log(iterations), idle_(idle) {
    iteration_log.begin(iterations);
  }
  /// The trace has been read once before, so that its names are complete.
  void add(const SelectedRows& rows);
  /// Call it once, after the last chunk.
  void finish();

  /// After finish(): whether the host's ranges and calls in long gaps are needed. If so, pass all chunks
  /// again.
  [[nodiscard]] bool needs_host_times() const noexcept { return !gaps.long_gaps().empty(); }
  void add_host_times(const SelectedRows& rows);
  void finish_host_times();

  KernelFacts kernels;
  GpuGaps gaps;
  CallLog log;
  IterationLog iteration_log;
  CaptureCalls captures;
  std::vector<StreamWait> stream_waits;
  std::set<std::pair<std::uint32_t, std::uint32_t>> communicating;  ///< streams (context, stream) that do
  /// By thread: what of its ranges and calls is in the long gaps that its launches ended. Of launches only
  /// those that took long.
  std::unordered_map<std::uint32_t, HostTimeline> host_threads;
  ElementwiseChains elementwise;
  AttentionProducts attention;
  ShortNodes short_nodes;
  ConcurrentKernels concurrent;
  CoverageFacts coverage;
  StackSamples stacks;
  std::vector<Holds::Span> compilation;  ///< times of a framework's compiler on the host, on any thread
  bool any_sync = false, any_alloc = false, any_event = false;

 private:
  /// The time line of the thread if one of its long gaps overlaps these times; nullptr: none does.
  [[nodiscard]] HostTimeline* host_thread(std::uint32_t thread, TimeNs start, TimeNs end);
  void add_lines(const SelectedRows& rows);
  template <typename Call>
  void add_call(const Call& call, const Holds& holds);
  template <typename Record>
  void add_row(const Record& record, bool begins);
  void add_work(const WorkEvent& event);

  void begin(const TraceNames& names);

  IdleCauses* idle_;
  const TraceNames* names_ = nullptr;            // up to the latest chunk
  std::unordered_set<std::uint32_t> compilers_;  // paths of `compilation`
  KernelSorts sorts_;
  LaunchedWork launched_;
  StreamWaits waits_;
  std::unordered_map<std::uint32_t, std::vector<Holds::Span>> long_gaps_;  // by thread, in order of time
};

}  // namespace rangefinder
