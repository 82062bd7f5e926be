// SPDX-License-Identifier: Apache-2.0
//
// A trace as an SQLite database, one file per process.
#include <memory>

#include "tools/export/export_format.h"
#include "tools/export/process_file_name.h"
#include "tools/export/record_rows.h"
#include "tools/export/sqlite_database.h"
#include "tools/export/sqlite_rows.h"
#include "tools/export/sqlite_schema.h"

namespace rangefinder {
namespace {

void write_database(const TraceOutline& trace, const std::filesystem::path& file) {
  SqliteDatabase database(file);
  database.execute(kSqliteNsightTables);
  database.execute(kSqliteOwnTables);
  {
    SqliteRows rows(trace, database);
    rows.add_facts();
    write_rows(trace, rows);
  }
  database.execute(kSqliteIndexes);
  database.commit();
}

}  // namespace

ExportResult export_sqlite(const ExportRequest& request) {
  ExportResult result;
  std::unique_ptr<OutputFolder> folder;
  const bool is_one_file = request.traces.size() == 1 && !std::filesystem::is_directory(request.out);
  if (!is_one_file) folder = std::make_unique<OutputFolder>(request.out);
  for (const TraceFolder& trace : request.traces) {
    const TraceOutline outline = read_outline(trace);
    note_trace(outline, result);
    const std::filesystem::path target =
        folder ? folder->path() / (process_file_name(outline.header) + ".sqlite") : request.out;
    TemporaryTarget place(target, request.overwrite);
    write_database(outline, place.temporary());
    // Each file is complete by itself and stays if a later one fails.
    place.commit();
    if (folder) folder->commit();
    result.files.push_back(target);
  }
  return result;
}

}  // namespace rangefinder
