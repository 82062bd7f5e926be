// SPDX-License-Identifier: Apache-2.0
//
// Rows as inserts into the tables of sqlite_schema.h.
//
// Memory grows with distinct texts. Process and thread ids are packed as in Nsight Systems:
// globalTid / 0x1000000 % 0x1000000 is the process, globalTid % 0x1000000 the thread.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/export/row_tables.h"
#include "tools/export/sqlite_database.h"
#include "tools/export/trace_outline.h"

namespace rangefinder {

class SqliteRows final : public RowSink {
 public:
  /// The tables must exist.
  SqliteRows(const TraceOutline& trace, SqliteDatabase& database);

  /// Adds the enumerations and the facts of the trace, which only this format has.
  void add_facts();
  void row(RowTable table, std::span<const RowCell> cells) override;

 private:
  struct Target {
    SqliteInsert* insert = nullptr;  ///< nullptr: not in this format
    std::vector<std::size_t> cells;  ///< for each column of the insert, of a row; its end: NULL
  };
  void bind(SqliteInsert& row, const RowCell& cell);
  void bind_payload(SqliteInsert& row, const PayloadCell& payload);
  [[nodiscard]] std::int64_t global_tid(std::uint32_t thread) const;
  /// Id in StringIds.
  [[nodiscard]] std::int64_t string_id(std::string_view text);

  const TraceOutline& trace_;
  SqliteDatabase& database_;
  std::map<std::string, SqliteInsert> inserts_;  ///< by name of the table
  std::vector<Target> targets_;                  ///< by RowTable
  SqliteInsert strings_;
  std::map<std::string, std::int64_t> ids_;                  ///< of the texts in StringIds
  std::unordered_map<const char*, std::int64_t> known_ids_;  ///< by address of the text
};

}  // namespace rangefinder
