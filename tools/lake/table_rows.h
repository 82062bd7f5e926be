// SPDX-License-Identifier: Apache-2.0
//
// The rows of a table, in memory, as DuckDB reads them: a function in place of a table.
//
//   TableRows rows(db, "holds", {{"cause", LakeType::text}, …});
//   rows.put("cause", std::string_view("lock"));  rows.end_row();    values in the order of the columns
//   db.ask("SELECT * FROM rows_of_holds()")                          DuckDB reads the chunks where they are
//
// A column that a row omits is NULL. Texts are borrowed as long as this lives. Rows in DuckDB's own tables
// would be copied three times on their way into a file, and counted for its optimizer. One thread appends;
// then any may read.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lake/duckdb.h"

namespace rangefinder {

enum class LakeType : std::uint8_t { boolean, integer, uinteger, bigint, ubigint, number, text };

/// The type of a column for values of type T.
template <typename T>
[[nodiscard]] constexpr LakeType lake_type() {
  if constexpr (std::same_as<T, bool>) {
    return LakeType::boolean;
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    return LakeType::text;
  } else if constexpr (std::floating_point<T>) {
    return LakeType::number;
  } else if constexpr (std::signed_integral<T>) {
    return sizeof(T) == 8 ? LakeType::bigint : LakeType::integer;
  } else {
    return sizeof(T) == 8 ? LakeType::ubigint : LakeType::uinteger;
  }
}

struct LakeColumn {
  std::string_view name;  ///< of static storage
  LakeType type = LakeType::text;
};

/// SELECT without rows, with these columns.
[[nodiscard]] std::string no_rows_sql(const std::vector<LakeColumn>& columns);

class TableRows {
 public:
  static constexpr bool kAll = false;  ///< RecordColumns: what a record omits is NULL

  /// Registers the function. `db` must outlive this, and have no query about it afterwards.
  TableRows(DuckDb& db, std::string_view table, std::vector<LakeColumn> columns);
  ~TableRows();
  TableRows(const TableRows&) = delete;
  TableRows& operator=(const TableRows&) = delete;

  /// "rows_of_holds()"
  [[nodiscard]] static std::string source(std::string_view table);

  /// `column`: one that comes later than that of the call before.
  template <typename T>
  void put(std::string_view column, const T& value) {
    Target& target = seek(column);
    if constexpr (std::convertible_to<const T&, std::string_view>) {
      static_cast<DuckDbText*>(target.data)[row_] = text_of(value);
    } else {
      static_cast<T*>(target.data)[row_] = value;
    }
  }
  void end_row() {
    while (next_ != targets_.size()) set_null(targets_[next_++]);
    next_ = 0;
    ++rows_;
    if (++row_ == at_once_) seal();
  }
  /// Number of rows so far.
  [[nodiscard]] std::uint64_t size() const noexcept { return rows_; }
  /// Call it before a query, and after the last row.
  void seal();
  /// Sorts the rows from `first` on, fewer than 2^32, by up to three columns of numbers. NULL comes first.
  /// They have one value in each of the first `constant` columns.
  void sort_from(std::uint64_t first, const std::vector<std::string_view>& columns, std::size_t constant);
  /// Removes all rows, and frees their memory.
  void clear();

 private:
  struct Target {
    std::string_view name;
    void* data = nullptr;
    DuckDbVectorHandle* vector = nullptr;
    std::uint64_t* valid = nullptr;  // nullptr: all are, so far
  };
  struct Sealed {
    DuckDbChunkHandle* chunk = nullptr;
    std::uint64_t rows = 0;
  };
  /// Makes the columns before it NULL.
  Target& seek(std::string_view column) {
    while (true) {
      Target& target = targets_[next_++];
      if (target.name.data() == column.data() || target.name == column) return target;
      set_null(target);
    }
  }
  void set_null(Target& target);
  [[nodiscard]] static DuckDbText text_of(std::string_view text) noexcept;
  void open_chunk();
  [[nodiscard]] std::vector<std::uint32_t> order_from(std::uint64_t first,
                                                      const std::vector<std::string_view>& columns);
  template <std::size_t kBytes>
  void move_values(std::uint64_t first, const std::vector<std::uint32_t>& order, std::size_t column);
  void move_rows(std::uint64_t first, const std::vector<std::uint32_t>& order, std::size_t column);
  template <typename See>
  void each_place(std::size_t column, std::uint64_t first, See&& see);

  static void on_bind(DuckDbBindHandle* info);
  static void on_init(DuckDbInitHandle* info);
  static void on_call(DuckDbCallHandle* info, DuckDbChunkHandle* out);

  const DuckDbFunctions& duckdb_;
  std::vector<LakeColumn> columns_;
  std::vector<DuckDbTypeHandle*> types_;
  std::vector<Sealed> sealed_;
  DuckDbChunkHandle* chunk_ = nullptr;  // open; nullptr: none
  std::vector<Target> targets_;         // of chunk_
  std::size_t next_ = 0;
  std::uint64_t row_ = 0, rows_ = 0, at_once_ = 0;
};

}  // namespace rangefinder
