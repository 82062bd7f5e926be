// SPDX-License-Identifier: Apache-2.0
//
// The totals of a trace for reports: its names, totals per path and kernel, and counts. Memory grows with the
// number of paths and names, not with the number of lines.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "profiler/attribution/path_totals.h"
#include "schema/record.h"
#include "tools/analysis/model/after_last_work.h"
#include "tools/analysis/model/chunk.h"
#include "tools/analysis/model/trace_files.h"
#include "tools/analysis/model/trace_names.h"

namespace rangefinder {

class Selection;
class Trace;
struct Part;

struct TraceTotals : TraceNames {
  TotalsBuilder totals;  ///< of all selected data, in every path
  /// With --range: the selected paths, and totals of their work by kernel and copy.
  struct SelectedPaths {
    std::unordered_set<std::uint32_t> paths;
    TotalsBuilder totals;
  };
  std::optional<SelectedPaths> in_range;
  AfterLastWork after_last_work;  ///< of the whole trace, whatever is selected

  std::uint64_t kernels = 0, copies = 0, memsets = 0;  ///< records
  std::uint64_t graphs = 0;                            ///< launches of graphs as a whole
  std::uint64_t ranges = 0;
  std::uint64_t samples_lines = 0;  ///< `samples` lines: SampledTrace reads them
  TimeNs last_ns = 0;               ///< the latest time in any line

  /// TotalsBuilder::paths() of the selected paths. The row of path 0 is last; it is empty if --range is in
  /// use.
  [[nodiscard]] std::vector<PathTotals> rows() const;
  /// Whether the path is selected.
  [[nodiscard]] bool shows(std::uint32_t path) const;
  /// Totals by kernel and copy of the selected paths.
  [[nodiscard]] const TotalsBuilder& selected() const { return in_range ? in_range->totals : totals; }
};

/// Adds records to the totals, all of a trace in order, or chunk by chunk.
class TotalsFold {
 public:
  /// `out` is empty. `selection`: what to count; nullptr: all. Both must outlive this.
  TotalsFold(TraceTotals& out, Selection* selection);

  /// What add() reads.
  static constexpr Columns kColumns = Column::work_times | Column::work_correlation | Column::work_path |
                                      Column::work_graph | Column::work_name | Column::copies |
                                      Column::exact | Column::range_times | Column::range_thread |
                                      Column::range_path | Column::range_payload;
  void add(const Chunk& chunk);
  /// The same, line by line: all of a trace, in order.
  void add(const Line& line);
  /// Call it after the last one.
  void finish();

 private:
  template <typename Record>
  void put(const Record& record, bool begins, bool in_range);
  template <typename Record>
  void pass(const Record& record, bool in_range);
  template <typename Record>
  void count(const Record& record);
  void add_other(const Line& line);
  void add_path(const PathRecord& path);
  template <typename Use>
  void each_builder(Use&& use);
  void see(TimeNs time) { out_.last_ns = std::max(out_.last_ns, time); }

  TraceTotals& out_;
  std::array<TotalsBuilder*, 2> builders_{};  // of the current record; nullptr: not of this one
  Selection* selection_;
  bool has_pytorch_ = false;  // only then the report reads AfterLastWork
  std::set<std::pair<std::uint32_t, std::uint32_t>> categories_;
};

/// Of a trace with TotalsFold::kColumns.
[[nodiscard]] TraceTotals load_totals(Trace& trace, Selection& selection);

}  // namespace rangefinder
