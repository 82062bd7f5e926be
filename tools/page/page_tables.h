// SPDX-License-Identifier: Apache-2.0
//
// The page's tables as JSON: the rows of `report --json`, and breakdowns of kernels and copies.
//
// The report's own functions make the rows of modules and kernels, so the numbers are equal. Rows beyond a
// limit are omitted, lightest first, and counted in "left_out".
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/tables/row_values.h"
#include "tools/page/page_counts.h"
#include "tools/page/page_indices.h"

namespace rangefinder {

/// Also fills `indices`.
[[nodiscard]] nlohmann::ordered_json page_tables(const TraceTotals& trace, const RowValues& values,
                                                 PageCounts& counts, const PageLimits& limits,
                                                 PageIndices& indices);

}  // namespace rangefinder
