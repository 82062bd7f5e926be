// SPDX-License-Identifier: Apache-2.0
//
// The SQLite C library with destructors, and nothing else: one database, one transaction, inserts.
//
//   SqliteDatabase database(file);
//   SqliteInsert kernels(database, "kernels");
//   kernels.add(start_ns, std::nullopt, "gemm");        a value a column; nullopt is NULL
//   database.commit();
//
// No journal: the file is a temporary one and goes away when anything fails. Errors throw Missing.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace rangefinder {

/// Not thread-safe.
class SqliteDatabase {
 public:
  /// Of an empty file. Begins the transaction.
  explicit SqliteDatabase(const std::filesystem::path& file);
  ~SqliteDatabase();
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  /// Statements without results.
  void execute(const std::string& sql);
  /// Ends the transaction and closes the file. Every SqliteInsert must be gone.
  void commit();
  [[noreturn]] void fail();
  [[nodiscard]] sqlite3* handle() const noexcept { return handle_; }

 private:
  std::filesystem::path file_;
  sqlite3* handle_ = nullptr;
};

/// One prepared insert of a whole row.
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
  /// A value of the next column, for rows whose length is known at run time; then run().
  template <std::integral T>
  void bind(T value) {
    // SQLite's integers have a sign: what does not fit stays exact as text.
    if constexpr (std::same_as<T, std::uint64_t>) {
      if (value > INT64_MAX) return bind_text(std::to_string(value));
    }
    bind_integer(static_cast<std::int64_t>(value));
  }
  /// NULL for NaN, as SQLite has it.
  void bind(double value);
  void bind(std::string_view value) { bind_text(value); }
  void bind(const std::string& value) { bind_text(value); }
  void bind(const char* value) { bind_text(value); }
  void bind(std::nullopt_t);
  template <typename T>
  void bind(const std::optional<T>& value) {
    if (value) {
      bind(*value);
    } else {
      bind(std::nullopt);
    }
  }
  void run();

 private:
  void bind_integer(std::int64_t value);
  void bind_text(std::string_view value);

  SqliteDatabase& database_;
  sqlite3_stmt* statement_ = nullptr;
  int columns_ = 0;
  int next_ = 1;
};

}  // namespace rangefinder
