// SPDX-License-Identifier: Apache-2.0
//
// A table as data: what every section of a report makes, before anybody decides how it looks.
//
//   section ─▶ Table ─┬─▶ render_text      aligned, human units
//                     ├─▶ render_markdown
//                     ├─▶ render_csv       plain numbers (ns, bytes), keys as titles
//                     └─▶ render_rows      JSON objects, plain numbers, empty cells left out
//
// A cell holds a number or a text; its column says what the number counts, and only the renderers
// turn it into "48.1 ms". Nothing here knows of traces.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "profiler/base/text_table.h"

namespace rangefinder {

enum class Unit : std::uint8_t {
  text,
  count,
  ns,
  bytes,
  bytes_per_s,
  share,   ///< 0.25: shown as 25.0 %
  factor,  ///< 1.5: shown as 1.50x
  number   ///< no unit: three digits
};

struct TableColumn {
  std::string key;    ///< in JSON and CSV, with the unit: "gpu_ns"
  std::string title;  ///< for people: "GPU time"
  Unit unit = Unit::text;
  int importance = kAlwaysShown;  ///< the lowest goes first on a narrow terminal
};

/// std::monostate: unknown or not measured, which is never 0.
using CellValue = std::variant<std::monostate, std::uint64_t, std::int64_t, double, bool, std::string>;

struct Cell {
  CellValue value;
  std::string shown;  ///< for people, instead of the formatted value: an indented or shortened name
  std::string sign;   ///< for people, behind the formatted value: "+" for "at least"

  // Not inline: gcc 12 sees uninitialised members in the variant's moves where they are inlined.
  Cell();
  Cell(CellValue v, std::string s = {});
  Cell(const char* text);
  Cell(const Cell& other);
  Cell(Cell&& other) noexcept;
  Cell& operator=(const Cell& other);
  Cell& operator=(Cell&& other) noexcept;
  ~Cell();
  [[nodiscard]] bool empty() const noexcept { return std::holds_alternative<std::monostate>(value); }
};

struct Table {
  std::string name;   ///< key in JSON, file name in CSV exports: "memcpy"
  std::string title;  ///< line above it for people; empty: none
  std::vector<TableColumn> columns;
  std::vector<std::vector<Cell>> rows;  ///< as many cells as columns
  std::string empty;                    ///< what to say when there are no rows
  std::string remarks;                  ///< whole lines below it, for people
  CutSide cut = CutSide::front;         ///< of texts in the first column
  /// False: rows are a tree or a time line, whose order says something; --top keeps the first ones.
  bool sortable = true;
  /// True: sorted and cut as the user asked when it was made; nothing is left to do.
  bool arranged = false;

  /// Appends a row; cells beyond those given stay empty.
  void add(std::vector<Cell> cells);
};

/// By a column's key, largest number first, texts in alphabetical order, empty cells last; stable.
/// False: no column has that key.
bool sort_rows(Table& table, const std::string& key);

/// Columns without any value go; the first always stays.
void drop_empty_columns(Table& table);

/// 0: all.
void keep_first(Table& table, std::uint64_t rows);

}  // namespace rangefinder
