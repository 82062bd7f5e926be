// SPDX-License-Identifier: Apache-2.0
//
// summary.json against the trace beside it: what the application added up while it ran
// must be what the tools get from its lines. So must the truth in the end line.
#pragma once

#include <string>

#include "tools/analysis/read/trace_totals.h"
#include "tools/analysis/validate/problem_log.h"

namespace rangefinder {

/// Reads `trace.files.folder`/summary.json. Compares only a final summary of a trace whose
/// lines are all there; else returns a sentence that says why not, and "" if it compared.
[[nodiscard]] std::string check_summary(const TraceTotals& trace, ProblemLog& problems);

}  // namespace rangefinder
