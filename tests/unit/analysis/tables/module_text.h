// SPDX-License-Identifier: Apache-2.0
//
// The module table of a TraceOnDisk.
#pragma once

#include <string>

#include "tests/unit/analysis/read/trace_on_disk.h"
#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/tables/module_table.h"

namespace rangefinder::test {

inline TraceTotals written_totals(const TraceOnDisk& trace) {
  trace.write();
  return load_trace(open_trace_folder(trace.folder.path()));
}

inline std::string module_text(const TraceOnDisk& trace, const ModuleView& view = {},
                               const TextStyle& style = {0, false}) {
  const TraceTotals totals = written_totals(trace);
  return module_table(totals, load_row_values(totals), view, style);
}

}  // namespace rangefinder::test
