// SPDX-License-Identifier: Apache-2.0
//
// What stands above and below the tables of a report: whose trace it is, how far to believe it.
#pragma once

#include <string>

#include "tools/analysis/read/trace_totals.h"
#include "tools/analysis/tables/row_values.h"

namespace rangefinder {

/// Folder, program, process, GPUs, driver.
[[nodiscard]] std::string report_title(const TraceTotals& trace);
/// What was recorded and lost, and how the recording ended.
[[nodiscard]] std::string report_footer(const TraceTotals& trace);
/// How the bytes came about, and how far they may be believed.
[[nodiscard]] std::string bytes_footer(const TraceTotals& trace, const RowValues& values);

}  // namespace rangefinder
