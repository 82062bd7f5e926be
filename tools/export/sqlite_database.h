// SPDX-License-Identifier: Apache-2.0
//
// A thin wrapper of the SQLite C library: one database, one transaction, inserts.
//
//   SqliteDatabase database(file);
//   SqliteInsert kernels(database, "kernels");
//   kernels.add(start_ns, std::nullopt, "gemm");        one value per column; nullopt is NULL
//   database.commit();
//
// No journal: the file is temporary and is removed after any error. Errors throw Missing.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace rangefinder {

/// Not thread-safe.
class SqliteDatabase {
 public:
  /// Opens an empty file and begins the transaction.
  explicit SqliteDatabase(const std::filesystem::path& file);
  ~SqliteDatabase();
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  /// Executes statements without results.
  void execute(const std::string& sql);
  /// Ends the transaction and closes the file. Every SqliteInsert must be destroyed before.
  void commit();
  [[noreturn]] void fail();
  [[nodiscard]] sqlite3* handle() const noexcept { return handle_; }

 private:
  std::filesystem::path file_;
  sqlite3* handle_ = nullptr;
};

/// A prepared INSERT of a complete row.
class SqliteInsert {
 public:
  SqliteInsert(SqliteDatabase& database, const std::string& table);
  ~SqliteInsert();
  SqliteInsert(const SqliteInsert&) = delete;
  SqliteInsert& operator=(const SqliteInsert&) = delete;

  template <typename... Values>
  void add(const Values&... values) {
    (bind(values), ...);
    run();
  }
  /// Binds the value of the next column, for rows whose length is known at run time. Then call run().
  template <std::integral T>
  void bind(T value) {
    // SQLite's integers are signed: a larger value is stored exactly, as text.
    if constexpr (std::same_as<T, std::uint64_t>) {
      if (value > INT64_MAX) return bind(std::to_string(value));
    }
    bind_integer(static_cast<std::int64_t>(value));
  }
  /// SQLite stores NaN as NULL.
  void bind(double value);
  void bind(std::string_view value);
  void bind(std::nullopt_t);
  void run();
  [[nodiscard]] const std::vector<std::string>& columns() const noexcept { return columns_; }

 private:
  void bind_integer(std::int64_t value);

  SqliteDatabase& database_;
  sqlite3_stmt* statement_ = nullptr;
  std::vector<std::string> columns_;
  int next_ = 1;
};

}  // namespace rangefinder
