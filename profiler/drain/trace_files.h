// SPDX-License-Identifier: Apache-2.0
//
// The files of a trace: its folder, its segments, summary.json, a recording if requested.
//
//   events, exact, activity ─▶ builder() ─▶ TraceWriter ─▶ segments
//                                  └─▶ totals ─▶ summary.json       every turn: clock, heartbeat, flush,
//                                                                   summary when due
//
// Uses no thread, no clock, and of CUPTI only the record iterator. DrainLoop feeds the builder in an
// application, replay feeds it a recorded run; both get the same files.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "profiler/attribution/condition_totals.h"
#include "profiler/drain/flush_schedule.h"
#include "profiler/drain/recording.h"
#include "profiler/drain/trace_builder.h"
#include "profiler/options/options.h"
#include "profiler/output/kernel_names.h"
#include "profiler/output/segment_log.h"
#include "profiler/output/summary.h"
#include "profiler/output/trace_writer.h"

namespace rangefinder {

class TraceFiles {
 public:
  /// `cupti`: for recordings; nullptr without CUPTI.
  TraceFiles(Recorder& recorder, const Options& options, const CuptiFunctions* cupti);

  /// Creates the folder and begins the trace. False: `error()`. On failure or bad_alloc no folder is left.
  [[nodiscard]] bool open(const std::string& folder, const Header& header,
                          const std::vector<GpuRecord>& gpus);

  /// Gets what comes in, from open() on.
  [[nodiscard]] TraceBuilder& builder() noexcept { return *builder_; }
  [[nodiscard]] const TraceBuilder& builder() const noexcept { return *builder_; }

  /// nullptr: none is requested. It needs each buffer of CUPTI's records before it is decoded.
  [[nodiscard]] RecordingWriter* recording() const noexcept { return recording_.get(); }

  /// Counters turned out to be unavailable: later segments and the summary report the reason.
  void on_counters_refused(const std::string& reason);

  /// Readings in the order of their times, which are absolute.
  void on_conditions(std::span<const ConditionRecord> records);
  /// Times are absolute; stacks are those of the recorder's table.
  void on_stacks(std::span<StackSampleRecord> records);

  /// Ends a turn: writes the heartbeat, the flush and the summary that are due. `cost` goes into the summary.
  void end_turn(const TickChunk& tick, const OwnCost& cost);
  /// Writes all buffered lines now.
  void flush(std::int64_t now_ns);
  /// When that was last done.
  [[nodiscard]] std::int64_t flushed_ns() const noexcept { return flush_interval_.last_ns(); }
  /// Writes all buffered lines and the summary now.
  void flush_now(const TickChunk& tick, const OwnCost& cost);
  /// Contexts so far, and their GPUs.
  [[nodiscard]] std::size_t contexts() const noexcept { return writer_.contexts(); }
  [[nodiscard]] std::vector<GpuRecord> used_gpus() const { return writer_.used_gpus(); }
  /// Number of the file that lines go to.
  [[nodiscard]] std::uint32_t segment() const noexcept { return segments_.segment(); }
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
  void write_summary(std::int64_t now_ns, const OwnCost& cost, bool final);
  [[nodiscard]] SummaryInput summary_input() const;

  Recorder& recorder_;
  const Options& options_;
  const CuptiFunctions* const cupti_;
  KernelNames kernels_;
  SegmentLog segments_;
  TraceWriter writer_;
  std::unique_ptr<RecordingWriter> recording_;
  std::unique_ptr<TraceBuilder> builder_;  // from open() on
  ConditionTotals conditions_;
  std::int64_t base_unix_ns_ = 0, base_monotonic_ns_ = 0;
  std::int64_t last_clock_ns_ = 0, last_summary_ns_ = 0;
  GrowingInterval flush_interval_;
  std::uint32_t domains_ = 1;  // the trace has all domains below this id; 0 is the default domain
  std::uint64_t records_at_clock_ = 0, records_at_flush_ = 0, records_at_summary_ = 0;
  std::string summary_, summary_error_;
};

}  // namespace rangefinder
