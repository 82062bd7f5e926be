// SPDX-License-Identifier: Apache-2.0
//
// Makes the cells of a section's tables: numbers, ratios, paths.
//
// An undefined value (a share of 0, the mean of no values) is an empty cell, never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/base/duration.h"
#include "schema/record.h"
#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/queries/duration_histogram.h"
#include "tools/analysis/table/table.h"

namespace rangefinder {

class NamedValues;

[[nodiscard]] inline Cell number_cell(std::uint64_t value) {
  return Cell(CellValue(value));
}
/// Empty if `value` is not finite.
[[nodiscard]] Cell number_cell(double value);
[[nodiscard]] inline Cell optional_cell(std::optional<double> value) {
  return value ? number_cell(*value) : Cell();
}
[[nodiscard]] inline Cell text_cell(std::string text) {
  return Cell(CellValue(std::move(text)));
}
/// A text that is read as a sentence: columns are right-aligned, so it is padded to `width`.
[[nodiscard]] Cell left_aligned(std::string_view text, std::size_t width);
/// Empty if `has_value` is false.
[[nodiscard]] inline Cell cell_if(bool has_value, std::uint64_t value) {
  return has_value ? number_cell(value) : Cell();
}

/// part / whole; empty if `whole` is 0.
[[nodiscard]] Cell ratio_cell(double part, double whole);
[[nodiscard]] Cell ratio_cell(std::uint64_t part, std::uint64_t whole);
/// Bytes per second; empty if `ns` is 0.
[[nodiscard]] Cell rate_cell(std::uint64_t bytes, std::uint64_t ns);
/// Quantile of the durations; empty if there are none.
[[nodiscard]] Cell quantile_cell(const DurationHistogram& durations, double part);

/// A path as reports show it; 0: "(outside of any range)".
[[nodiscard]] std::string path_title(const TraceTotals& trace, std::uint32_t path);
/// File and line of a module, for people.
[[nodiscard]] TableColumn source_column();
[[nodiscard]] Cell source_cell(const TraceTotals& trace, std::uint32_t path);
/// `loader (4711)`; without a name `4711`.
[[nodiscard]] std::string thread_title(const TraceTotals& trace, std::uint32_t thread);
/// `path`, or its ancestor at level `depth` if it is deeper; depth 0: no limit.
[[nodiscard]] std::uint32_t path_at_depth(const TraceTotals& trace, std::uint32_t path, std::uint32_t depth);

/// One column for each named metric, then `top_stall`. Narrow terminals omit the least useful first; text has
/// no other stall.
[[nodiscard]] std::vector<TableColumn> named_columns();
/// The cells of those columns. `launches`: of the row; sums are shown per launch.
[[nodiscard]] std::vector<Cell> named_cells(const NamedValues& values, std::uint64_t launches);

}  // namespace rangefinder
