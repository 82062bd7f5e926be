// SPDX-License-Identifier: Apache-2.0
//
// A DuckDB in memory: what we run in it, and the one question that a user may ask.
//
//   DuckDb db(limits);  db.run("CREATE VIEW …")           our own statements
//   db.lock(folder);                                      from now on only files below `folder`
//   db.answer("SELECT …", Explain::no)                    a user's text ─▶ Table
//
// answer() runs one SELECT or EXPLAIN and nothing else. DuckDB itself allows COPY … TO and ATTACH below a
// folder that it may read, even with external access off, and functions of a SELECT that write logs there. So
// the functions are checked as DuckDB parsed them, and the type of the statement after it was prepared. No
// extension is loaded or installed. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/table/table.h"
#include "tools/lake/duckdb_functions.h"

namespace rangefinder {

/// 'it''s': a text as SQL.
[[nodiscard]] std::string sql_text(std::string_view text);
/// "a ""b""": a name as SQL.
[[nodiscard]] std::string sql_name(std::string_view name);

struct DuckDbLimits {
  unsigned threads = 2;
  std::uint64_t memory_bytes = 0;        ///< 0: DuckDB's own, 80 % of the machine's
  std::filesystem::path temporary = {};  ///< folder for what does not fit; empty: nothing is written
};

enum class Explain : std::uint8_t { no, yes };

class DuckDb {
 public:
  /// Throws Missing without a DuckDB.
  explicit DuckDb(const DuckDbLimits& limits);
  ~DuckDb();
  DuckDb(const DuckDb&) = delete;
  DuckDb& operator=(const DuckDb&) = delete;

  [[nodiscard]] const DuckDbFunctions& functions() const noexcept { return duckdb_; }
  [[nodiscard]] DuckDbConnectionHandle* connection() const noexcept { return connection_; }

  /// Our own statements, any number. Throws std::runtime_error with DuckDB's message.
  void run(const std::string& sql);
  /// Our own query. Throws like run().
  [[nodiscard]] Table ask(const std::string& sql);

  /// Ends access to files other than those below `folder`, and fixes all settings. Empty: no files at all.
  void lock(const std::filesystem::path& folder);
  /// A user's query. Throws Refused for what is no single SELECT or EXPLAIN of one, and for errors in it.
  [[nodiscard]] Table answer(const std::string& query, Explain explain);

  /// The answer is the plan of a query.
  [[nodiscard]] static bool is_plan(const Table& answer);

  /// The query cannot be run: the user's mistake.
  class Refused : public std::runtime_error {
   public:
    explicit Refused(const std::string& message) : std::runtime_error(message) {}
  };

 private:
  class Result;
  class Prepared;
  void require_query(const std::string& query);
  [[nodiscard]] Table table_of(Result& result) const;

  const DuckDbFunctions& duckdb_;
  DuckDbDatabaseHandle* database_ = nullptr;
  DuckDbConnectionHandle* connection_ = nullptr;
};

}  // namespace rangefinder
