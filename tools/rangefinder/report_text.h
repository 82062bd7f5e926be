// SPDX-License-Identifier: Apache-2.0
//
// The text above and below the tables of a report: the traced process, and how complete and exact it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/queries/row_values.h"

namespace rangefinder {

/// Folder, program, process, GPUs, driver.
[[nodiscard]] std::string report_title(const TraceTotals& trace);
/// The command that reports on `places` with `option`, as a line.
[[nodiscard]] std::string report_command(const std::vector<std::string>& places, const std::string& option);
/// Below `section`: how bytes were measured if it shows any, what was recorded and lost, how the recording
/// ended.
[[nodiscard]] std::string report_footer(const TraceTotals& trace, const RowValues& values,
                                        std::string_view section);

}  // namespace rangefinder
