// SPDX-License-Identifier: Apache-2.0
#include "tools/page/page_columns.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/kernel_table.h"
#include "tools/analysis/queries/module_table.h"
#include "tools/analysis/table/table_render.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;
using Keys = std::initializer_list<std::string_view>;

constexpr std::array kUnits{"text",  "count",   "ns",     "bytes", "bytes_per_s",
                            "share", "percent", "factor", "number"};

std::string capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

/// Columns in the order of `keys`.
OrderedJson columns_json(const std::vector<TableColumn>& all, Keys keys) {
  OrderedJson out = OrderedJson::array();
  for (const std::string_view key : keys) {
    const auto column =
        std::find_if(all.begin(), all.end(), [key](const auto& one) { return one.key == key; });
    const bool bar = key == "gpu_ns" || key == "total_ns" || key == "limit_share";
    out.push_back(column_json(*column, bar));
  }
  return out;
}

OrderedJson metric_column(const NamedMetric& metric, const TableColumn& column) {
  const bool is_share = column.unit == Unit::percent;
  OrderedJson out = column_json({metric.name, column.title, column.unit}, is_share);
  if (metric.unit == std::string_view("FLOP/s")) out["unit"] = "flop_per_s";
  out["tip"] = metric_tip(metric);
  return out;
}

/// The most useful ones, the largest stall, the others. Of stalls there is no other column.
void add_metric_columns(OrderedJson& out, const OrderedJson& metrics) {
  const std::vector<TableColumn> columns = named_columns();
  const TableColumn& stall = columns.back();
  OrderedJson others = OrderedJson::array();
  bool stalls = false;
  std::size_t at = 0;
  for (const NamedMetric& metric : named_metrics()) {
    const TableColumn& column = columns[at++];
    const auto is_it = [&metric](const OrderedJson& one) { return one.at("name") == metric.name; };
    if (std::none_of(metrics.begin(), metrics.end(), is_it)) continue;
    if (metric.topic == MetricTopic::stalls) {
      stalls = true;
      continue;
    }
    (column.importance >= stall.importance ? out : others).push_back(metric_column(metric, column));
  }
  if (stalls) out.push_back(column_json(stall));
  for (OrderedJson& column : others) out.push_back(std::move(column));
}

}  // namespace

OrderedJson column_json(const TableColumn& column, bool bar) {
  OrderedJson out{{"key", column.key},
                  {"title", capital(column.title)},
                  {"unit", kUnits[static_cast<std::size_t>(column.unit)]}};
  if (!column.about.empty()) out["tip"] = capital(column.about);
  if (bar) out["bar"] = true;
  return out;
}

void add_texts(OrderedJson& row, const Table& table, const std::vector<Cell>& cells) {
  for (std::size_t i = 1; i < cells.size(); ++i) {
    const Cell& cell = cells[i];
    if (cell.shown.empty() && cell.sign.empty()) continue;
    row["texts"][table.columns[i].key] = cell_text(cell, table.columns[i].unit, false);
  }
}

std::string metric_tip(const NamedMetric& metric) {
  std::string out = std::string(metric.title) + ": " + metric.meaning;
  if (metric.unit == std::string_view("bytes")) out += " Of all launches together.";
  if (metric.better == Better::higher) out += " Higher is better.";
  if (metric.better == Better::lower) out += " Lower is better.";
  return out;
}

OrderedJson page_columns_json(const OrderedJson& metrics) {
  const std::vector<TableColumn> modules = module_columns(), kernels = kernel_columns();
  OrderedJson out;
  out["modules"] =
      columns_json(modules, {"path", "calls", "kernels", "gpu_ns", "gpu_ns_exclusive", "host_ns",
                             "dram_read_bytes", "dram_write_bytes", "bytes_error_pct", "carry_over_bytes",
                             "l2_bytes", "dram_bytes_per_s", "limit_share", "limiter"});
  out["module_metrics"] = columns_json(modules, {"path", "kernels", "gpu_ns"});
  add_metric_columns(out["module_metrics"], metrics);
  out["kernels"] =
      columns_json(kernels, {"name", "library", "count", "total_ns", "mean_ns", "median_ns", "p95_ns",
                             "min_ns", "max_ns", "dram_read_bytes", "dram_write_bytes", "l2_bytes"});
  out["kernel_metrics"] = columns_json(kernels, {"name", "library", "count", "total_ns"});
  add_metric_columns(out["kernel_metrics"], metrics);
  return out;
}

}  // namespace rangefinder
