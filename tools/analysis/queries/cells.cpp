// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/cells.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "profiler/attribution/named_values.h"
#include "profiler/base/number_text.h"
#include "tools/analysis/model/path_names.h"

namespace rangefinder {
namespace {

constexpr int kMaxImportance = 90;
/// In this order columns stay on a narrow terminal.
constexpr std::array<std::string_view, 12> kFirst{
    "compute_throughput", "memory_throughput", "achieved_occupancy", "tensor_pipe",
    "l2_hit_rate",        "dram_throughput",   "issue_slots",        "store_bytes_used",
    "load_bytes_used",    "flop_per_byte",     "fp32_pipe",          "l1_hit_rate"};

int importance_of(std::string_view name) {
  const auto at = std::find(kFirst.begin(), kFirst.end(), name);
  return kMaxImportance - static_cast<int>(at - kFirst.begin());
}

Unit unit_of(const NamedMetric& metric) {
  const std::string_view unit = metric.unit;
  return unit == "%" ? Unit::percent : unit == "bytes" ? Unit::bytes : Unit::number;
}

}  // namespace

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
  return cell_if(durations.count() != 0, durations.quantile_ns(part));
}

TableColumn source_column() {
  constexpr int kImportance = 25;  // findings name the lines of the modules that matter most
  return {"source", "source", Unit::text, kImportance,
          "its class, or its call if the class is PyTorch's own"};
}

Cell source_cell(const TraceTotals& trace, std::uint32_t path) {
  const SourceLines& source = trace.source_of(path);
  return source.known() ? Cell(CellValue(printable(source.text()))) : Cell();
}

std::string thread_title(const TraceTotals& trace, std::uint32_t thread) {
  const auto found = trace.threads.find(thread);
  const std::string number = std::to_string(thread);
  return found == trace.threads.end() || found->second.empty() ? number : found->second + " (" + number + ")";
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

std::vector<TableColumn> named_columns() {
  std::vector<TableColumn> out;
  for (const NamedMetric& metric : named_metrics()) {
    const bool per_launch = metric.form == MetricForm::sum;
    out.push_back({metric.name + std::string(per_launch ? "_per_launch" : ""), metric.column, unit_of(metric),
                   importance_of(metric.name), metric.title,
                   metric.topic == MetricTopic::stalls ? kNotInText : Outputs()});
  }
  out.push_back({"top_stall", "top stall", Unit::text, kMaxImportance - 3, "largest stall reason"});
  return out;
}

std::vector<Cell> named_cells(const NamedValues& values, std::uint64_t launches) {
  std::vector<Cell> out;
  for (const NamedMetric& metric : named_metrics()) {
    const auto value = values.value(metric.name);
    if (metric.form == MetricForm::sum) {
      out.push_back(value && launches != 0 ? number_cell(*value / static_cast<double>(launches)) : Cell());
    } else {
      out.push_back(optional_cell(value));
    }
  }
  const std::vector<NamedValue> stalls = values.stalls();
  out.push_back(stalls.empty() ? Cell()
                               : Cell(CellValue(std::string(stalls.front().metric->name)),
                                      stalls.front().metric->title + std::string(" ") +
                                          percent_text(stalls.front().value / 100)));
  return out;
}

}  // namespace rangefinder
