// SPDX-License-Identifier: Apache-2.0
//
// Processes as rows of DuckDB's tables: what `lake add` writes as Parquet, and what `sql TRACE` asks.
//
//   TraceTables tables(db);            functions in place of tables: kernels, launches, …
//   tables.add(files, run, …);         reads the trace once; each row begins with process and rank
//   tables.finish();                   SELECT … FROM tables.source(table)
//
// Events have the keys of schema/fields.h (record_columns.h). Left out of the lake: marks, whole graphs,
// calls that allocate, record events or capture, overhead, gaps, host functions, windows of monitor mode,
// heartbeats, and what defines names, which are in the rows that use them. rank_sums.h has the tables of
// sums. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/model/trace.h"
#include "tools/lake/duckdb.h"
#include "tools/lake/table_rows.h"

namespace rangefinder {

struct Header;

/// A table of the lake.
struct LakeTable {
  std::string_view name;
  std::vector<std::string_view>
      order;  ///< numbers by which the rows of a process are sorted; empty: as they come
  std::vector<LakeColumn> columns;
};

/// In one order, always the same.
[[nodiscard]] const std::vector<LakeTable>& lake_tables();

/// Which process of a run it is, the same whenever its trace is read.
struct ProcessKey {
  std::string run, host;
  std::int64_t boot_ns = 0;  ///< base_unix_ns - base_monotonic_ns: when the machine started
  std::int64_t pid = 0;
  std::int64_t start_ns = 0;  ///< base_unix_ns

  /// `process` of each row.
  [[nodiscard]] std::uint64_t number() const;
};
[[nodiscard]] ProcessKey process_key(const std::string& run, const Header& header);

class LakeTexts;

class TraceTables {
 public:
  /// Registers the functions. `db` must outlive this.
  explicit TraceTables(DuckDb& db);
  ~TraceTables();
  TraceTables(const TraceTables&) = delete;
  TraceTables& operator=(const TraceTables&) = delete;

  /// Reads a trace once and appends its rows. Throws Missing.
  void add(const TraceFolder& files, const std::string& run, const ReadLimits& limits);
  /// Of all tables, so far.
  [[nodiscard]] std::uint64_t rows() const noexcept;
  void finish();
  /// Of one of them, after finish().
  [[nodiscard]] TableRows& rows_of(std::size_t table) { return *tables_[table]; }

 private:
  class Appender;
  std::vector<std::unique_ptr<LakeTexts>> texts_;   // of the processes: rows borrow them
  std::vector<std::unique_ptr<TableRows>> tables_;  // in the order of lake_tables()
};

}  // namespace rangefinder
