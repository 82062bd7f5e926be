// SPDX-License-Identifier: Apache-2.0
//
// The module table of a TraceOnDisk.
#pragma once

#include <string>

#include "tests/unit/analysis/read/trace_on_disk.h"
#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/tables/module_table.h"
#include "tools/analysis/tables/whole_trace.h"

namespace rangefinder::test {

inline TraceTotals written_totals(const TraceOnDisk& trace) {
  trace.write();
  return load_totals(open_trace_folder(trace.folder.path()));
}

inline std::string module_text(const TraceOnDisk& trace, const ModuleView& view = {},
                               const TextStyle& style = {0, false}) {
  trace.write();
  WholeTrace whole(open_trace_folder(trace.folder.path()), {});
  return module_table(whole.totals(), whole.values(), view, style);
}

}  // namespace rangefinder::test
