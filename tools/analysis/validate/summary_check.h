// SPDX-License-Identifier: Apache-2.0
//
// Compares summary.json with its trace: the totals that the application computed while it ran must equal
// those that the tools compute from the lines. The same for the truth in the end line.
#pragma once

#include <string>

#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/validate/problem_log.h"

namespace rangefinder {

/// Reads `trace.files.folder`/summary.json. Compares only a final summary with a complete trace. Returns "",
/// or a sentence with the reason why it did not compare.
[[nodiscard]] std::string check_summary(const TraceTotals& trace, ProblemLog& problems);

}  // namespace rangefinder
