// SPDX-License-Identifier: Apache-2.0
//
// Turns what application threads and CUPTI delivered into the files of a trace.
//
//   events ───────┐
//   exact ────────┼─▶ TraceBuilder ─▶ TraceWriter ─▶ segments      every turn: clock, heartbeat,
//   activity ─────┘        └─▶ totals ─▶ summary.json              flush, summary when due
//
// Uses no thread, no clock, and of CUPTI only the record iterator. DrainLoop feeds it in an
// application, replay feeds it a recorded run; both get the same files.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "profiler/counters/sampling/sample_queue.h"
#include "profiler/drain/flush_schedule.h"
#include "profiler/drain/recording.h"
#include "profiler/drain/trace_builder.h"
#include "profiler/options/options.h"
#include "profiler/output/kernel_names.h"
#include "profiler/output/segment_log.h"
#include "profiler/output/summary.h"
#include "profiler/output/trace_writer.h"

namespace rangefinder {

class Drain {
 public:
  /// `cupti`: nullptr without CUPTI; on_activity() must not be called then.
  Drain(Recorder& recorder, const Options& options, const CuptiFunctions* cupti);

  /// Creates the folder and begins the trace. False: `error()`. On failure or bad_alloc no folder is left.
  [[nodiscard]] bool open(const std::string& folder, const Header& header,
                          const std::vector<GpuRecord>& gpus);

  void on_event(std::uint32_t thread, const Event& event, std::span<const std::byte> extra);
  void on_exact(std::span<const ExactLaunch> launches);
  /// Call before the first launch that was measured with `set`. Its `id`: metric_set_id().
  void on_metric_set(const MetricSetRecord& set);
  void on_samples(const PmRecord& record);
  void on_activity(std::uint8_t* data, std::size_t bytes);
  /// For a window that begins or ends while the application runs: see TraceBuilder.
  void begin_late();
  void end_window(std::int64_t end_ns) noexcept { builder_->end_window(end_ns); }
  void begin_gap(std::int64_t start_ns) noexcept { builder_->begin_gap(start_ns); }
  void end_gap(std::int64_t start_ns, std::int64_t end_ns, std::string_view cause) {
    builder_->end_gap(start_ns, end_ns, cause);
  }
  [[nodiscard]] bool all_joined() const { return builder_->all_joined(); }

  /// Monitor mode. Call before the first event: see TraceBuilder.
  void monitor(const MonitorCycle& cycle) noexcept { builder_->monitor(cycle); }
  void end_period(std::int64_t start_ns, std::int64_t end_ns, std::uint64_t window_ns) {
    builder_->end_period(start_ns, end_ns, window_ns);
  }

  /// Counters turned out to be unavailable: later segments and the summary report the reason.
  void on_counters_refused(const std::string& reason);

  /// Ends a turn: writes the heartbeat, the flush and the summary that are due. `cost` goes into the summary.
  void end_turn(const TickChunk& tick, const OwnCost& cost);
  /// Writes all buffered lines now.
  void flush(std::int64_t now_ns);
  /// When that was last done.
  [[nodiscard]] std::int64_t flushed_ns() const noexcept { return flush_interval_.last_ns(); }
  /// Writes all buffered lines and the summary now.
  void flush_now(const TickChunk& tick, const OwnCost& cost);
  [[nodiscard]] std::uint64_t untimed_graph_work() const noexcept { return builder_->untimed_graph_work(); }
  /// Event lines so far.
  [[nodiscard]] std::uint64_t records() const noexcept { return writer_.records(); }

  /// Ends the trace: end line, last summary. No call may follow.
  void finish(const EndFacts& end, const std::string& reason);

  [[nodiscard]] const std::string& error() const noexcept { return segments_.error(); }
  /// Why the last summary could not be written; empty: it was.
  [[nodiscard]] const std::string& summary_error() const noexcept { return summary_error_; }
  /// open() failed because the folder holds another trace. open() may be called again.
  [[nodiscard]] bool occupied() const noexcept { return segments_.occupied(); }
  [[nodiscard]] const std::string& folder() const noexcept { return segments_.folder(); }
  [[nodiscard]] std::uint64_t bytes_written() const noexcept { return segments_.bytes_written(); }
  /// The last summary's text, as written.
  [[nodiscard]] const std::string& summary() const noexcept { return summary_; }
  /// Of the whole trace, after finish().
  [[nodiscard]] LayerSummary layer_summary() const;

 private:
  /// Writes the first lines into the opened folder. False: the write failed.
  [[nodiscard]] bool begin(const Header& header, const std::vector<GpuRecord>& gpus);
  void record(std::uint32_t thread, const Event& event, std::span<const std::byte> extra);
  void write_summary(std::int64_t now_ns, const OwnCost& cost, bool final);
  [[nodiscard]] SummaryInput summary_input() const;

  Recorder& recorder_;
  const Options& options_;
  const CuptiFunctions* const cupti_;
  KernelNames kernels_;
  SegmentLog segments_;
  TraceWriter writer_;
  std::unique_ptr<TraceBuilder> builder_;  // from open() on
  std::unique_ptr<RecordingWriter> recording_;
  std::int64_t base_unix_ns_ = 0, base_monotonic_ns_ = 0;
  std::int64_t last_clock_ns_ = 0, last_summary_ns_ = 0;
  GrowingInterval flush_interval_;
  std::uint32_t domains_ = 1;  // the trace has all domains below this id; 0 is the default domain
  std::uint64_t records_at_clock_ = 0, records_at_flush_ = 0, records_at_summary_ = 0;
  std::string summary_, summary_error_;
};

}  // namespace rangefinder
