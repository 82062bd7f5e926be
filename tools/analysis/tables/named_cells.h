// SPDX-License-Identifier: Apache-2.0
//
// Columns and cells of named metrics, for tables with one row per module or kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/attribution/named_values.h"
#include "tools/analysis/table/table.h"

namespace rangefinder {

/// One column for each named metric, then `top_stall`. Narrow terminals omit the least useful first; text has
/// no other stall.
[[nodiscard]] std::vector<TableColumn> named_columns();
/// The cells of those columns. `launches`: of the row; sums are shown per launch.
[[nodiscard]] std::vector<Cell> named_cells(const NamedValues& values, std::uint64_t launches);

}  // namespace rangefinder
