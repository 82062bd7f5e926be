// SPDX-License-Identifier: Apache-2.0
//
// Time and work of each iteration of a trace.
//
//   rows  ─▶ IterationLog ─┬─▶ --section iterations
//                          └─▶ iteration_series.h (rangefinder diff)
//
// Host time is that of the range without the time in which the profiler held its thread. Wall time lasts
// until the work that the iteration launched is done, and begins when the previous iteration is done if that
// is later than its start: it is right for loops that launch and never wait. GPU work counts for the
// iteration that launched it; of iterations that overlap on the GPU, each has the busy time within its wall
// time.
//
// Warm-up is the first iteration, and those after it that take more than three medians; fewer than three
// iterations have none. An iteration in which another tool had CUPTI (a `gap` line) has unknown work.
// Warm-up and gaps are in no statistics. Keeps some 400 bytes per iteration. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "profiler/attribution/busy_times.h"
#include "profiler/attribution/holds.h"
#include "tools/analysis/model/iterations.h"
#include "tools/analysis/model/line_parts.h"
#include "tools/analysis/queries/condition_log.h"
#include "tools/analysis/sampling/dram_split.h"
#include "tools/analysis/table/table.h"

namespace rangefinder {

class SelectedRows;

struct IterationTotals {
  bool seen = false;  ///< at least one of its lines was selected
  std::uint64_t kernels = 0, copy_bytes = 0, launches = 0;
  std::uint64_t gpu_ns = 0, sync_ns = 0;
  std::uint64_t measured = 0, unmeasured = 0;  ///< launches in exact windows, with and without bytes
  std::uint64_t dram_read_bytes = 0, dram_write_bytes = 0, l2_bytes = 0;
  TimeNs last_gpu_ns = kNoTime;  ///< end of the last work on a GPU
  // Set by finish():
  std::uint64_t host_ns = 0;
  std::optional<std::uint64_t> wall_ns;        ///< absent: the iteration before it was not selected
  TimeNs from_ns = 0, to_ns = 0;               ///< of the wall time, which does not count holds
  std::uint64_t busy_ns = 0;                   ///< union of the GPU time within the wall time
  std::uint64_t held_ns = 0;                   ///< by the profiler; not part of host time
  std::uint64_t gap_ns = 0;                    ///< another tool had CUPTI: its work was not recorded
  std::optional<double> gpm_bytes, gpm_error;  ///< DRAM read and written, from NVML, and the bound
  std::optional<double> sm_mhz, power_w;       ///< means over the wall time, of the GPU with the lowest clock

  /// Wall time without a kernel.
  [[nodiscard]] std::optional<std::uint64_t> idle_ns() const noexcept {
    if (!wall_ns) return {};
    return *wall_ns - busy_ns;
  }
};

class IterationLog {
 public:
  void begin(Iterations iterations) {
    iterations_ = std::move(iterations);
    rows_.resize(iterations_.instances.size());
    ends_.resize(rows_.size());
  }
  /// The selected rows of a chunk.
  static constexpr Columns kColumns = kWorkOfIteration | Column::copies | Column::launch_times |
                                      Column::exact | Column::syncs | Column::allocs | Column::events |
                                      Column::captures | Column::range_times | Column::work_place;
  void add(const SelectedRows& rows);
  // The same, where the caller reads the rows: before those of a chunk (reads its conditions), calls, ranges
  // that begin in the selected time, work.
  void begin_chunk(const SelectedRows& rows);
  template <typename Record>
  void add_call(const Record& record);
  void add_range(const RangeRecord& range) { static_cast<void>(row(iterations_.at(range.start_ns))); }
  template <typename Record>
  void add_work(const Record& record, bool begins);
  /// Call it after the last chunk, while the trace's names are still there.
  void finish();
  /// After finish(): Iterations::forget_launches().
  void forget_launches() { iterations_.forget_launches(); }

  [[nodiscard]] const Iterations& iterations() const noexcept { return iterations_; }
  [[nodiscard]] const std::vector<IterationTotals>& rows() const noexcept { return rows_; }
  /// Of the whole trace.
  [[nodiscard]] const ConditionLog& conditions() const noexcept { return conditions_; }
  /// The iterations with lines, by number.
  [[nodiscard]] const std::vector<std::size_t>& seen() const noexcept { return seen_; }
  /// Number of iterations at the start of the program that warm up.
  [[nodiscard]] std::size_t warm_up() const noexcept { return warm_up_; }
  /// Whether the iteration is in statistics.
  [[nodiscard]] bool counts(std::size_t iteration) const noexcept {
    return rows_[iteration].seen && iteration >= warm_up_ && rows_[iteration].gap_ns == 0;
  }

 private:
  /// Marks the iteration as seen; nullptr: outside all iterations.
  IterationTotals* row(std::size_t index) {
    if (index >= rows_.size()) return nullptr;
    if (!std::exchange(rows_[index].seen, true)) add_end(index, iterations_.instances[index].end_ns);
    return &rows_[index];
  }
  /// Something of the iteration ends, which is not busy time.
  void add_end(std::size_t index, TimeNs end_ns) { add_busy(index, end_ns, end_ns); }
  void add_busy(std::size_t index, TimeNs start_ns, TimeNs end_ns) {
    order_.add({start_ns, end_ns, static_cast<std::uint32_t>(index)},
               [this](const BusyWork& next) { put_busy(next); });
  }
  void put_busy(const BusyWork& next);
  void add_wall_times();
  void add_conditions(IterationTotals& row, TimeNs from_ns, TimeNs to_ns) const;
  void add_gpm();
  [[nodiscard]] std::size_t find_warm_up() const;

  Iterations iterations_;
  std::vector<IterationTotals> rows_;
  std::vector<std::size_t> seen_;
  struct End {
    TimeNs ns = INT64_MIN;      // of the range and of the work so far
    std::uint64_t busy_ns = 0;  // of all iterations, up to then
  };
  TimeOrder<BusyWork> order_;
  IntervalUnion busy_;            // of all iterations
  std::vector<End> ends_;         // by iteration
  const Holds* holds_ = nullptr;  // of the trace
  std::size_t warm_up_ = 0;
  ConditionLog conditions_;
  DramSplit gpm_;
};

/// GPU time as in the module table: of kernels, and of graphs recorded as a whole.
template <typename Record>
void IterationLog::add_work(const Record& record, bool begins) {
  const GpuWork& work = record.work;
  const std::size_t at = iterations_.of(work);
  IterationTotals* const row = this->row(at);
  if (row == nullptr) return;
  if (begins && is_kernel(record)) ++row->kernels;
  if constexpr (std::is_same_v<Record, MemcpyRecord>) row->copy_bytes += begins ? record.bytes : 0;
  if (!is_timed(work)) return;
  row->last_gpu_ns = row->last_gpu_ns == kNoTime ? work.end_ns : std::max(row->last_gpu_ns, work.end_ns);
  if (!is_kernel(record) && !is_graph(record)) return add_end(at, work.end_ns);
  row->gpu_ns += duration_ns(work.start_ns, work.end_ns);
  add_busy(at, work.start_ns, work.end_ns);
}

template <typename Record>
void IterationLog::add_call(const Record& record) {
  if constexpr (std::is_same_v<Record, ExactRecord>) {
    if (record.is_counter_range) return;
    IterationTotals* const row = this->row(iterations_.of(record.launch.host));
    if (row == nullptr) return;
    ++row->launches;
    if (shares_counter_range(record)) return;
    const bool has_bytes = record.measured && record.has_bytes;
    ++(has_bytes ? row->measured : row->unmeasured);
    if (!has_bytes) return;
    row->dram_read_bytes += record.dram_read_bytes;
    row->dram_write_bytes += record.dram_write_bytes;
    row->l2_bytes += record.l2_bytes;
  } else {
    IterationTotals* const row = this->row(iterations_.of(record.host));
    if (row == nullptr) return;
    if constexpr (std::is_same_v<Record, LaunchRecord>) ++row->launches;
    if constexpr (std::is_same_v<Record, SyncRecord>) row->sync_ns += holds_->net_ns(record.host);
  }
}

/// The columns of the table of iterations, also those without values.
[[nodiscard]] std::vector<TableColumn> iteration_columns();
/// For JSON: what the iterations are; no row if there are none.
[[nodiscard]] Table iteration_facts(const Iterations& iterations);

}  // namespace rangefinder
