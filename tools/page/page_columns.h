// SPDX-License-Identifier: Apache-2.0
//
// Columns and cells of the page's tables as JSON: those of `report`, so the page states neither titles and
// units nor marks.
//
//   TableColumn ─▶ {key, title, unit, tip, bar}      values: the row's, by key
//   Cell with a mark, or without a number ─▶ "texts" of its row: {"dram_write_bytes": "4.10 GB+†"}
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

/// Adds `texts` to the row of those cells, from `first` on, which the formatted value alone does not show.
void add_texts(nlohmann::ordered_json& row, const Table& table, const std::vector<Cell>& cells,
               std::size_t first = 1);

/// To {TABLE: rows} adds columns: {TABLE: its columns}, and texts to the rows. Paths stay whole. p is no
/// column: the interval and the verdict say it.
void add_columns(nlohmann::ordered_json& out, const std::vector<Table>& tables);

/// Title and meaning of a metric, and whether more is better.
[[nodiscard]] std::string metric_tip(const NamedMetric& metric);

/// {modules, module_metrics, kernels, kernel_metrics, iterations, copies}: arrays of columns, in the order
/// of the page.
/// `metrics`: named_metrics_json().
[[nodiscard]] nlohmann::ordered_json page_columns_json(const nlohmann::ordered_json& metrics);

}  // namespace rangefinder
