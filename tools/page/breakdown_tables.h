// SPDX-License-Identifier: Apache-2.0
//
// Breakdowns and iterations as JSON: columns for tables with many rows, objects for tables with few.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/page/iteration_rows.h"
#include "tools/page/page_indices.h"
#include "tools/page/page_limits.h"
#include "tools/page/work_breakdown.h"

namespace rangefinder {

/// Adds "kernel_modules", "kernel_configs", "copy_modules" and "copy_sizes".
void add_breakdown_tables(nlohmann::ordered_json& out, const TraceNames& names, const WorkBreakdown& all,
                          const PageLimits& limits, const PageIndices& indices,
                          nlohmann::ordered_json& omitted);

/// {path, columns}; null if the trace has no ranges.
[[nodiscard]] nlohmann::ordered_json iteration_table(const IterationRows& rows,
                                                     nlohmann::ordered_json& omitted);

}  // namespace rangefinder
