// SPDX-License-Identifier: Apache-2.0
//
// A trace that is read for one answer.
#pragma once

#include <string>

#include "tools/analysis/model/iterations.h"
#include "tools/analysis/model/selection.h"
#include "tools/analysis/model/trace.h"
#include "tools/analysis/model/trace_totals.h"

namespace rangefinder::test {

/// Throws Missing.
inline TraceTotals load_totals(const TraceFolder& files) {
  Trace trace(files, {.columns = TotalsFold::kColumns, .keep = Keep::no});
  Selection all;
  return rangefinder::load_totals(trace, all);
}

/// Throws Missing, NoMatch.
inline Iterations find_iterations(const TraceFolder& files, const std::string& glob) {
  Trace trace(files, {.columns = {}, .while_reading = kIterationColumns, .keep = Keep::no});
  return rangefinder::find_iterations(trace, glob);
}

}  // namespace rangefinder::test
