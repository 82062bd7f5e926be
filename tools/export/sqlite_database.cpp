// SPDX-License-Identifier: Apache-2.0
#include "tools/export/sqlite_database.h"

#include <sqlite3.h>

#include <cassert>
#include <utility>

#include "tools/analysis/model/missing.h"
#include "tools/export/value_text.h"

namespace rangefinder {

SqliteDatabase::SqliteDatabase(const std::filesystem::path& file) : file_(file) {
  if (sqlite3_open_v2(file.c_str(), &handle_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr) !=
      SQLITE_OK) {
    const std::string reason = handle_ == nullptr ? "out of memory" : sqlite3_errmsg(handle_);
    sqlite3_close(std::exchange(handle_, nullptr));
    throw Missing("cannot write " + file.string() + ": " + reason);
  }
  try {
    execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; BEGIN");
  } catch (...) {
    sqlite3_close(handle_);
    throw;
  }
}

SqliteDatabase::~SqliteDatabase() {
  sqlite3_close_v2(handle_);
}

void SqliteDatabase::fail() {
  throw Missing("cannot write " + file_.string() + ": " + sqlite3_errmsg(handle_));
}

void SqliteDatabase::execute(const std::string& sql) {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

void SqliteDatabase::commit() {
  execute("COMMIT");
  if (sqlite3_close(handle_) != SQLITE_OK) fail();
  handle_ = nullptr;
}

SqliteInsert::SqliteInsert(SqliteDatabase& database, const std::string& table) : database_(database) {
  const auto prepare = [&](const std::string& sql) {
    if (sqlite3_prepare_v2(database.handle(), sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK)
      database.fail();
  };
  prepare("SELECT name FROM pragma_table_info('" + table + "')");
  while (sqlite3_step(statement_) == SQLITE_ROW) {
    columns_.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(statement_, 0)));
  }
  sqlite3_finalize(std::exchange(statement_, nullptr));
  std::string sql = "INSERT INTO " + table + " VALUES (?";
  for (std::size_t i = 1; i < columns_.size(); ++i) sql += ",?";
  prepare(sql + ")");
}

SqliteInsert::~SqliteInsert() {
  sqlite3_finalize(statement_);
}

void SqliteInsert::bind_integer(std::int64_t value) {
  if (sqlite3_bind_int64(statement_, next_++, value) != SQLITE_OK) database_.fail();
}

void SqliteInsert::bind(double value) {
  if (sqlite3_bind_double(statement_, next_++, value) != SQLITE_OK) database_.fail();
}

void SqliteInsert::bind(std::nullopt_t) {
  if (sqlite3_bind_null(statement_, next_++) != SQLITE_OK) database_.fail();
}

void SqliteInsert::bind(std::string_view value) {
  const std::string text = plain_text(value);
  if (sqlite3_bind_text64(statement_, next_++, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8) !=
      SQLITE_OK) {
    database_.fail();
  }
}

void SqliteInsert::run() {
  // A row with fewer values would keep values of the previous row.
  assert(static_cast<std::size_t>(next_) == columns_.size() + 1);
  next_ = 1;
  if (sqlite3_step(statement_) != SQLITE_DONE) database_.fail();
  sqlite3_reset(statement_);
}

}  // namespace rangefinder
