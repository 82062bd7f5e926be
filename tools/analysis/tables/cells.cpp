// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/tables/cells.h"

#include <cmath>

#include "tools/analysis/read/path_names.h"

namespace rangefinder {

Cell number_cell(double value) {
  return std::isfinite(value) ? Cell(CellValue(value)) : Cell();
}

Cell left_aligned(std::string_view text, std::size_t width) {
  std::string padded(text);
  padded.resize(std::max(padded.size(), width), ' ');
  return Cell(CellValue(std::string(text)), padded);
}

Cell ratio_cell(double part, double whole) {
  return whole == 0 ? Cell() : number_cell(part / whole);
}

Cell ratio_cell(std::uint64_t part, std::uint64_t whole) {
  return ratio_cell(static_cast<double>(part), static_cast<double>(whole));
}

Cell rate_cell(std::uint64_t bytes, std::uint64_t ns) {
  return ratio_cell(static_cast<double>(bytes) * 1e9, static_cast<double>(ns));
}

Cell quantile_cell(const DurationHistogram& durations, double part) {
  return known_cell(durations.count() != 0, durations.quantile_ns(part));
}

std::string path_title(const TraceTotals& trace, std::uint32_t path) {
  return path == 0 ? "(outside of any range)" : trace.path_text(path);
}

std::uint32_t path_at_depth(const TraceTotals& trace, std::uint32_t path, std::uint32_t depth) {
  if (depth == 0) return path;
  for (std::uint32_t levels = path_depth(trace.paths, path); levels > depth; --levels)
    path = trace.parent_of(path);
  return path;
}

}  // namespace rangefinder
