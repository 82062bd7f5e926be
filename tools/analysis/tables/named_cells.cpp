// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/tables/named_cells.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "profiler/base/number_text.h"
#include "tools/analysis/tables/cells.h"

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
