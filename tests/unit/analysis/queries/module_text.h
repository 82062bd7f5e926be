// SPDX-License-Identifier: Apache-2.0
//
// The module table of a TraceOnDisk.
#pragma once

#include <string>

#include "tests/unit/analysis/model/read_once.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/queries/module_table.h"
#include "tools/analysis/queries/whole_trace.h"
#include "tools/analysis/table/table_render.h"

namespace rangefinder::test {

inline TraceTotals written_totals(const TraceOnDisk& trace) {
  trace.write();
  return load_totals(open_trace_folder(trace.folder.path()));
}

inline std::string module_text(const TraceOnDisk& trace, const ModuleView& view = {},
                               const TextStyle& style = {0, false}) {
  trace.write();
  WholeTrace whole(open_trace_folder(trace.folder.path()), {});
  Table table = module_rows(whole.totals(), whole.values(), view);
  keep_columns(table, &Outputs::text);
  return render_text(table, style);
}

}  // namespace rangefinder::test
