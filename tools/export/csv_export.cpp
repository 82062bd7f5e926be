// SPDX-License-Identifier: Apache-2.0
//
// Traces as CSV: a folder with one file per table.
#include "tools/export/csv_tables.h"
#include "tools/export/export_format.h"
#include "tools/export/record_rows.h"

namespace rangefinder {

ExportResult export_csv(const ExportRequest& request) {
  ExportResult result;
  OutputFolder folder(request.out);
  CsvTables tables(folder.path(), request.overwrite);
  for (std::size_t number = 0; number < request.traces.size(); ++number) {
    const TraceOutline trace = read_outline(request.traces[number]);
    note_trace(trace, result);
    tables.begin_trace(number);
    write_rows(trace, tables);
  }
  result.files = tables.commit();
  folder.commit();
  return result;
}

}  // namespace rangefinder
