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
// iteration that launched it.
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
#include "tools/analysis/read/line_parts.h"
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
  // Known after finish():
  std::uint64_t host_ns = 0;
  std::optional<std::uint64_t> wall_ns;  ///< absent: the iteration before it was not selected
  std::uint64_t busy_ns = 0;             ///< union of the GPU time
  std::uint64_t held_ns = 0;             ///< by the profiler; not part of host time
  std::uint64_t gap_ns = 0;              ///< another tool had CUPTI: its work is not known

  /// Wall time without a kernel.
  [[nodiscard]] std::optional<std::uint64_t> idle_ns() const noexcept {
    if (!wall_ns) return {};
    return *wall_ns - std::min(busy_ns, *wall_ns);
  }
};

class IterationLog {
 public:
  void begin(Iterations iterations) {
    iterations_ = std::move(iterations);
    rows_.resize(iterations_.instances.size());
  }
  /// The selected rows of a chunk.
  static constexpr Columns kColumns = kWorkOfIteration | Column::copies | Column::launch_times |
                                      Column::exact | Column::syncs | Column::allocs | Column::events |
                                      Column::captures | Column::range_times;
  void add(const SelectedRows& rows);
  /// Call it after the last chunk. Again is harmless.
  void finish();

  [[nodiscard]] const Iterations& iterations() const noexcept { return iterations_; }
  [[nodiscard]] const std::vector<IterationTotals>& rows() const noexcept { return rows_; }
  /// The iterations with lines, by number.
  [[nodiscard]] const std::vector<std::size_t>& seen() const noexcept { return seen_; }
  /// Number of iterations at the start of the program that warm up.
  [[nodiscard]] std::size_t warm_up() const noexcept { return warm_up_; }
  /// Whether the iteration is in statistics.
  [[nodiscard]] bool counts(std::size_t iteration) const noexcept {
    return rows_[iteration].seen && iteration >= warm_up_ && rows_[iteration].gap_ns == 0;
  }

 private:
  IterationTotals* row(std::size_t index);
  template <typename Record>
  void add_work(const Record& record, bool begins);
  template <typename Record>
  void add_call(const Record& record, const Holds& holds);
  void add_wall_times();
  [[nodiscard]] std::size_t find_warm_up() const;

  Iterations iterations_;
  std::vector<IterationTotals> rows_;
  std::vector<std::size_t> seen_;
  BusyTimes busy_;
  Holds holds_;
  std::size_t warm_up_ = 0;
};

/// For JSON: what the iterations are; no row if there are none.
[[nodiscard]] Table iteration_facts(const Iterations& iterations);

}  // namespace rangefinder
