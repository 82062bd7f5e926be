// SPDX-License-Identifier: Apache-2.0
#include "tools/page/page_columns.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>

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

/// "p95" stays.
std::string capital(std::string text) {
  if (text.size() > 1 && std::isdigit(static_cast<unsigned char>(text[1])) != 0) return text;
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

/// Bars of modules and kernels.
const std::vector<std::string_view> kBars{"gpu_ns", "total_ns", "limit_share"};

/// The columns with these keys, in this order.
std::vector<TableColumn> chosen(const std::vector<TableColumn>& all, Keys keys) {
  std::vector<TableColumn> out;
  for (const std::string_view key : keys)
    out.push_back(*std::find_if(all.begin(), all.end(), [key](const auto& one) { return one.key == key; }));
  return out;
}

/// All but the name. What only JSON has follows.
std::vector<TableColumn> details(std::vector<TableColumn> columns, const std::vector<TableColumn>& more) {
  columns.erase(columns.begin());
  columns.insert(columns.end(), more.begin(), more.end());
  return columns;
}

const std::vector<TableColumn> kMoreOfModules{
    {"gpu_busy_ns", "GPU busy", Unit::ns, 0, "time with at least one kernel"},
    {"time_source", "times from"},
    {"bytes_source", "bytes from"},
    {"measured_launches", "measured launches", Unit::count, 0, "those that the bytes are from"},
    {"launches", "launches", Unit::count},
    {"dram_read_error_pct", "DRAM read ±", Unit::percent, 0, "95 % bound of the error"},
    {"dram_write_error_pct", "DRAM write ±", Unit::percent, 0, "95 % bound of the error"},
    {"l2_error_pct", "L2 ±", Unit::percent, 0, "95 % bound of the error"},
    {"l2_bytes_per_s", "L2 rate", Unit::bytes_per_s, 0, "bytes over the time in which its work ran"},
    {"l2_peak_share", "of the L2's peak", Unit::share, 0, "that rate over the peak of the GPU"},
    {"compute_peak_share", "of the compute peak", Unit::share}};

OrderedJson metric_column(const NamedMetric& metric, const TableColumn& column) {
  const bool is_share = column.unit == Unit::percent;
  OrderedJson out = column_json({metric.name, column.title, column.unit, column.importance}, is_share);
  if (metric.unit == std::string_view("FLOP/s")) out["unit"] = "flop_per_s";
  out["tip"] = metric_tip(metric);
  return out;
}

/// What the page makes of the row's value alone: nothing of a yes or no.
std::string value_text(const OrderedJson& row, const TableColumn& column) {
  const auto value = row.find(column.key);
  if (value == row.end() || !(value->is_number() || value->is_string())) return "";
  if (value->is_string()) return value->get<std::string>();
  const Cell cell = value->is_number_float()      ? Cell(value->get<double>())
                    : value->is_number_unsigned() ? Cell(value->get<std::uint64_t>())
                                                  : Cell(value->get<std::int64_t>());
  return cell_text(cell, column.unit, false);
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
  if (column.importance != kAlwaysShown) out["importance"] = column.importance;
  if (bar) out["bar"] = true;
  return out;
}

OrderedJson columns_json(const std::vector<TableColumn>& columns, const std::vector<std::string_view>& bars) {
  OrderedJson out = OrderedJson::array();
  for (const TableColumn& column : columns)
    out.push_back(column_json(column, std::find(bars.begin(), bars.end(), column.key) != bars.end()));
  return out;
}

void add_cells(OrderedJson& row, const Table& table, const std::vector<Cell>& cells, std::size_t first) {
  for (std::size_t i = first; i < cells.size(); ++i) {
    const TableColumn& column = table.columns[i];
    if (!row.contains(column.key)) {
      std::visit(
          [&](const auto& value) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
              row[column.key] = value;
          },
          cells[i].value);
    }
    std::string text = cell_text(cells[i], column.unit, false);
    if (text != value_text(row, column)) row["texts"][column.key] = std::move(text);
  }
}

OrderedJson table_json(const Table& table, const std::vector<std::string_view>& bars) {
  OrderedJson rows = OrderedJson::array();
  for (const std::vector<Cell>& cells : table.rows)
    add_cells(rows.emplace_back(OrderedJson::object()), table, cells, 0);
  return {
      {"columns", columns_json(table.columns, bars)}, {"rows", std::move(rows)}, {"remarks", table.remarks}};
}

void add_columns(OrderedJson& out, const std::vector<Table>& tables) {
  for (const Table& table : tables) {
    OrderedJson& columns = out["columns"][table.name];
    for (const TableColumn& column : table.columns) {
      if (column.key != "p") columns.push_back(column_json(column));
    }
    const std::size_t first = table.columns.front().key == "path" ? 1 : 0;
    OrderedJson& rows = out.at(table.name);
    for (std::size_t i = 0; i < table.rows.size(); ++i) add_cells(rows[i], table, table.rows[i], first);
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
  out["modules"] = columns_json(
      chosen(modules, {"path", "calls", "kernels", "gpu_ns", "gpu_ns_exclusive", "host_ns", "dram_read_bytes",
                       "dram_write_bytes", "bytes_error_pct", "carry_over_bytes", "l2_bytes",
                       "dram_bytes_per_s", "limit_share", "limiter"}),
      kBars);
  out["module_details"] = columns_json(details(modules, kMoreOfModules));
  out["module_metrics"] = columns_json(chosen(modules, {"path", "kernels", "gpu_ns"}), kBars);
  add_metric_columns(out["module_metrics"], metrics);
  out["kernels"] =
      columns_json(chosen(kernels, {"name", "library", "count", "total_ns", "mean_ns", "median_ns", "p95_ns",
                                    "min_ns", "max_ns", "dram_read_bytes", "dram_write_bytes", "l2_bytes"}),
                   kBars);
  out["kernel_details"] = columns_json(details(kernels, {}));
  out["kernel_metrics"] = columns_json(chosen(kernels, {"name", "library", "count", "total_ns"}), kBars);
  add_metric_columns(out["kernel_metrics"], metrics);
  return out;
}

}  // namespace rangefinder
