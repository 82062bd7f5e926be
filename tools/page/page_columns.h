// SPDX-License-Identifier: Apache-2.0
//
// Columns and cells of the page's tables as JSON: those of `report`, so the page states neither titles and
// units nor marks.
//
//   TableColumn ─▶ {key, title, unit, tip, bar}      values: the row's, by key
//   Cell with a mark, or without a number ─▶ "texts" of its row: {"dram_write_bytes": "4.10 GB+†"}
//   Table ─▶ {columns, rows, remarks}
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "profiler/attribution/named_values.h"
#include "tools/analysis/table/table.h"

namespace rangefinder {

/// `bar`: the page draws the value's share behind it.
[[nodiscard]] nlohmann::ordered_json column_json(const TableColumn& column, bool bar = false);

/// In their order; `bars`: keys of those with a bar.
[[nodiscard]] nlohmann::ordered_json columns_json(const std::vector<TableColumn>& columns,
                                                  const std::vector<std::string_view>& bars = {});

/// Adds cells, from `first` on, to the row of the same data: values that it lacks, and `texts` where its
/// formatted value is not what the report shows: a mark, no number, a rounded value.
void add_cells(nlohmann::ordered_json& row, const Table& table, const std::vector<Cell>& cells,
               std::size_t first = 1);

/// All of the table, as the page shows it. `bars`: keys of columns with a bar.
[[nodiscard]] nlohmann::ordered_json table_json(const Table& table,
                                                const std::vector<std::string_view>& bars = {});

/// To {TABLE: rows} adds columns: {TABLE: its columns}, and texts to the rows. Paths stay whole. p is no
/// column: the interval and the verdict say it.
void add_columns(nlohmann::ordered_json& out, const std::vector<Table>& tables);

/// Title and meaning of a metric, and whether more is better.
[[nodiscard]] std::string metric_tip(const NamedMetric& metric);

/// {modules, module_details, module_metrics, kernels, kernel_details, kernel_metrics}: arrays of columns, in
/// the order of the page. `metrics`: named_metrics_json().
[[nodiscard]] nlohmann::ordered_json page_columns_json(const nlohmann::ordered_json& metrics);

}  // namespace rangefinder
