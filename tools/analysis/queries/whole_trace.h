// SPDX-License-Identifier: Apache-2.0
//
// A trace for several queries over all of it: its rows in memory, its totals and its iterations.
//
//   files ─▶ one pass ─▶ iterations, totals, chunks with the declared columns
//                                               └─▶ each(rows), again and again, without the files
//
// Where the columns need more memory than `limits` allow, each() reads the files again (trace.h). One thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include "tools/analysis/model/iterations.h"
#include "tools/analysis/model/selected_rows.h"
#include "tools/analysis/model/trace.h"
#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/queries/row_values.h"

namespace rangefinder {

class WholeTrace {
 public:
  /// `columns`: what the queries read. Throws Missing, NoMatch.
  WholeTrace(const TraceFolder& files, Columns columns, const ReadLimits& limits = {});
  WholeTrace(const WholeTrace&) = delete;
  WholeTrace& operator=(const WholeTrace&) = delete;

  /// All rows, in the order of the files.
  void each(const std::function<void(const SelectedRows&)>& see);
  [[nodiscard]] Trace& rows() noexcept { return rows_; }
  [[nodiscard]] const Iterations& iterations() const noexcept { return iterations_; }
  [[nodiscard]] const TraceTotals& totals() const noexcept { return totals_; }
  /// Computed by the first call: bytes of hardware samples take a while.
  [[nodiscard]] const RowValues& values();
  /// The part from iteration `first` on, with the work between iterations; nullptr: in monitor mode, where
  /// only some windows have GPU work. `see`: sees its samples, which are then computed again.
  [[nodiscard]] const TracePart* measured_from(std::size_t first, const SeeSamples& see = nullptr);

 private:
  Trace rows_;
  Selection all_;
  TraceTotals totals_;
  Iterations iterations_;
  std::optional<RowValues> values_;
  std::unique_ptr<TracePart> part_;
  std::size_t part_first_ = 0;
};

}  // namespace rangefinder
