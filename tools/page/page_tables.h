// SPDX-License-Identifier: Apache-2.0
//
// The page's tables as JSON: the rows of `report --json`, and where kernels and copies ran.
//
// Rows of modules and kernels are made by the same functions as the report's, so their numbers are the
// same. What goes beyond a limit is left out, lightest first, and counted in "omitted".
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/tables/row_values.h"
#include "tools/page/page_counts.h"
#include "tools/page/page_indices.h"

namespace rangefinder {

/// Fills `indices` on the way.
[[nodiscard]] nlohmann::ordered_json page_tables(const TraceTotals& trace, const RowValues& values,
                                                 PageCounts& counts, const PageLimits& limits,
                                                 PageIndices& indices);

}  // namespace rangefinder
