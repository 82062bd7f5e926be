// SPDX-License-Identifier: Apache-2.0
//
// Cells of a section's tables: numbers, parts of a whole, paths.
//
// What cannot be known (a share of nothing, a mean of none) is an empty cell, never 0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "profiler/base/duration.h"
#include "schema/record.h"
#include "tools/analysis/read/trace_totals.h"
#include "tools/analysis/tables/table.h"
#include "tools/analysis/timeline/duration_histogram.h"

namespace rangefinder {

[[nodiscard]] inline Cell number_cell(std::uint64_t value) {
  return Cell(CellValue(value));
}
/// Not finite: empty.
[[nodiscard]] Cell number_cell(double value);
[[nodiscard]] inline Cell text_cell(std::string text) {
  return Cell(CellValue(std::move(text)));
}
/// Empty where `known` is false.
[[nodiscard]] inline Cell known_cell(bool known, std::uint64_t value) {
  return known ? number_cell(value) : Cell();
}

/// part / whole; empty where the whole is 0.
[[nodiscard]] Cell ratio_cell(double part, double whole);
[[nodiscard]] Cell ratio_cell(std::uint64_t part, std::uint64_t whole);
/// Bytes per second; empty where no time is known.
[[nodiscard]] Cell rate_cell(std::uint64_t bytes, std::uint64_t ns);
/// Quantile of what was seen; empty where nothing was.
[[nodiscard]] Cell quantile_cell(const DurationHistogram& durations, double part);

/// As reports show a path; 0: "(outside of any range)".
[[nodiscard]] std::string path_title(const TraceTotals& trace, std::uint32_t path);
/// `path`, or the one above it that is `depth` levels deep; 0: any depth.
[[nodiscard]] std::uint32_t path_at_depth(const TraceTotals& trace, std::uint32_t path, std::uint32_t depth);

/// CUPTI gave it a start and an end that can be.
[[nodiscard]] inline bool is_timed(const GpuWork& work) noexcept {
  return work.start_ns != kNoTime && work.end_ns != kNoTime && work.end_ns >= work.start_ns;
}

}  // namespace rangefinder
