// SPDX-License-Identifier: Apache-2.0
//
// Joins host events with GPU records, and writes the result.
//
//   Event(launch) ─▶ LaunchTable ◀─ find ─ KernelActivity        ┌▶ TraceWriter ─▶ lines
//   Event(range, mark, alloc, …) ─────────────────────────────── ┼▶ TotalsBuilder ─▶ summary
//   ExactLaunch ─────────────────────────────────────────────────┘
//
// A GPU record that arrives before its launch's event waits in pending_ for kPendingNs
// (kPendingExactNs). Then it is written without a path, and counted. The same input in the same
// order gives the same lines: replay feeds recorded runs through this class.
//
// Drain thread only. Throws bad_alloc; its caller counts that and continues.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <variant>

#include "profiler/activity/activity_decoder.h"
#include "profiler/attribution/monitor_rates.h"
#include "profiler/attribution/path_totals.h"
#include "profiler/attribution/sample_sharing.h"
#include "profiler/counters/exact/exact_launch.h"
#include "profiler/counters/sampling/sample_queue.h"
#include "profiler/drain/contiguous_queue.h"
#include "profiler/drain/event_decoder.h"
#include "profiler/drain/exact_join.h"
#include "profiler/drain/launch_table.h"
#include "profiler/drain/monitor_counts.h"
#include "profiler/drain/monitor_cycle.h"
#include "profiler/drain/recording.h"
#include "profiler/drain/window_edges.h"
#include "profiler/events/recorder.h"
#include "profiler/output/kernel_names.h"
#include "profiler/output/trace_writer.h"

namespace rangefinder {

class TraceBuilder final : public RecordSink {
 public:
  static constexpr std::int64_t kPendingNs = 2'000'000'000;
  /// With counter ranges: a batch of exact lines may take 2 s to begin, its longest kernel, and 2 s of quiet
  /// to end.
  static constexpr std::int64_t kPendingExactNs = 30'000'000'000;
  static constexpr std::size_t kMaxPending = 65'536;
  /// Exact graph launches that wait for their first record, which says what graph it was.
  static constexpr std::size_t kMaxPendingExact = 4'096;
  /// Samples are shared with this delay, so that all work of their time has arrived.
  static constexpr std::int64_t kSharingDelayNs = kPendingNs + 1'000'000'000;

  /// `base_unix_ns`: time 0 of the trace.
  TraceBuilder(Recorder& recorder, KernelNames& kernels, TraceWriter& writer, std::int64_t base_unix_ns);
  /// All input but CUPTI's records is written to `recording` too.
  void record_to(RecordingWriter& recording) noexcept { recording_ = &recording; }

  /// Files and lines of the program's code are not written.
  void omit_sources() noexcept { omits_sources_ = true; }

  /// One event of `thread`; `extra`: its extended payload (schema id, then data).
  void on_event(std::uint32_t thread, const Event& event, std::span<const std::byte> extra);
  void on_exact(std::span<const ExactLaunch> launches);
  /// Call before the first launch that was measured with `set`. Its `id`: metric_set_id().
  void on_metric_set(const MetricSetRecord& set);
  /// Times are absolute, as the sampling thread delivers them.
  void on_samples(const PmRecord& record);
  /// A buffer of CUPTI's records was decoded into this sink.
  void on_decoded(const DecodeResult& result) noexcept;

  void on_kernel(const KernelActivity& kernel) override;
  void on_memcpy(MemcpyRecord copy) override;
  void on_memset(MemsetRecord memset) override;
  void on_graph(GraphRecord graph) override;
  void on_host_function(HostFunctionRecord function) override;
  void on_overhead(OverheadRecord overhead, void* details) override;
  void on_context(const ContextRecord& context) override;
  void on_stream(const StreamRecord& stream) override;

  /// Tries to join the waiting records again. Those older than kPendingNs at `now_ns` are written as they
  /// are.
  void retry_pending(std::int64_t now_ns);
  /// The window begins while the application runs: work launched earlier is not part of it.
  void begin_late() noexcept { edges_.begin_late(); }
  /// Work launched from `end_ns` (absolute) on is not part of the window.
  void end_window(std::int64_t end_ns) noexcept { edges_.end_window(relative(end_ns)); }
  /// Another tool gets CUPTI: work launched from `start_ns` (absolute) on is not part of the window.
  void begin_gap(std::int64_t start_ns) noexcept { edges_.begin_gap(relative(start_ns)); }
  /// Writes the records that still wait, and the gap's line. Times are absolute.
  void end_gap(std::int64_t start_ns, std::int64_t end_ns, std::string_view cause);
  /// Call before the first sample of that GPU.
  void add_gpu(const GpuRecord& gpu) { l2_sizes_.set(gpu.id, gpu.l2_bytes); }
  /// Monitor mode: calls outside of `cycle`'s windows are counted, not written.
  void monitor(const MonitorCycle& cycle) noexcept { cycle_ = &cycle; }
  /// Ends a period of monitor mode and writes its lines. Times are absolute.
  void end_period(std::int64_t start_ns, std::int64_t end_ns, std::uint64_t window_ns);
  /// Every launch of the window has its record, and every record its launch.
  [[nodiscard]] bool all_joined() const;

  /// Call after the last input: writes waiting records, closes the balance, counts what is missing.
  void finish();

  [[nodiscard]] const TotalsBuilder& totals() const noexcept { return totals_; }
  /// Sampled bytes by path; nullptr: nothing is sampled.
  [[nodiscard]] const SampleSharing* sharing() const noexcept { return sharing_.get(); }
  [[nodiscard]] const LaunchTable& launches() const noexcept { return launches_; }
  /// nullptr: not in monitor mode.
  [[nodiscard]] const MonitorRates* rates() const noexcept { return cycle_ != nullptr ? &rates_ : nullptr; }
  /// Time in which we made threads of the application wait: the sum of the `hold` lines.
  [[nodiscard]] std::uint64_t held_ns() const noexcept { return held_ns_; }
  /// Records of graph work without times so far.
  [[nodiscard]] std::uint64_t untimed_graph_work() const noexcept { return untimed_graph_work_; }

 private:
  using Waiting = std::variant<KernelRecord, MemcpyRecord, MemsetRecord, GraphRecord>;
  struct Pending {
    std::int64_t since_ns;
    Waiting record;
  };
  [[nodiscard]] TimeNs relative(std::int64_t unix_ns) const noexcept { return decoder_.relative(unix_ns); }
  template <typename Record>
  void on_work(Record record);
  template <typename Record>
  [[nodiscard]] bool join(Record& record);
  template <typename Record>
  [[nodiscard]] std::optional<LaunchTable::Found> launch_of(Record& record);
  void on_graph_node(const Event& event);
  [[nodiscard]] GraphLaunch graph_launch(const Event& event, WorkKind kind);
  /// Sets the name from the NameTable: CUPTI's record may have another kernel's name. 0: no change.
  template <typename Record>
  void name_kernel(Record& record, std::uint32_t name);
  [[nodiscard]] bool is_of_counter_range(const KernelActivity& kernel) const noexcept;
  void put_exact(const Event& event, WorkKind kind, std::uint64_t bytes);
  void write_exact(const ExactLaunch& launch);
  void write_exact_lines(std::int64_t pending_ns);
  template <typename Record>
  void write(const Record& record);
  void record(std::uint32_t thread, const Event& event, std::span<const std::byte> extra);
  void add(const ExactLaunch& launch);
  void add(SamplesRecord samples);
  void add(SamplingRecord sampling);
  void add_path(std::uint32_t path);
  void expire(Pending& pending);
  void expire_all();
  void begin_sharing();
  [[nodiscard]] MonitorCycle::Place place(const Event& event) const noexcept;

  void on_launch(std::uint32_t thread, const Event& event);
  void expect_work_of(const Event& event, bool at_edge);
  void on_range(std::uint32_t thread, const Event& event, std::span<const std::byte> extra);
  void on_hold(std::uint32_t thread, const Event& event);
  void on_category(const Event& event);

  Recorder& recorder_;
  KernelNames& kernels_;
  TraceWriter& writer_;
  RecordingWriter* recording_ = nullptr;
  bool omits_sources_ = false;
  const EventDecoder decoder_;
  LaunchTable launches_;
  TotalsBuilder totals_;
  L2Sizes l2_sizes_;
  std::unique_ptr<SampleSharing> sharing_;  // exists from the first sampling line on
  GraphCalls old_graphs_;                   // of a recording with events of graph nodes
  ExactJoin exact_;
  IdSet known_paths_;  // paths in totals_
  const MonitorCycle* cycle_ = nullptr;
  MonitorCounts period_;
  MonitorRates rates_;
  std::uint64_t untimed_graph_work_ = 0, held_ns_ = 0;
  ContiguousQueue<Pending> pending_;
  std::int64_t now_ns_;  // of the last turn; the waiting time of new records is counted from it
  WindowEdges edges_;
};

}  // namespace rangefinder
