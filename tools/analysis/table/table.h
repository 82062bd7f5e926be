// SPDX-License-Identifier: Apache-2.0
//
// A table as data. Every section of a report makes one; renderers format it.
//
//   section ─▶ Table ─┬─▶ render_text      aligned, human units
//                     ├─▶ render_markdown
//                     ├─▶ render_csv       plain numbers (ns, bytes), keys as titles
//                     └─▶ render_rows      JSON objects, plain numbers, empty cells omitted
//
// A cell has a number or a text, and its column the unit. Only the renderers format it as "48.1 ms".
// A section makes all its tables once; each table and column says which outputs show it. Does not depend on
// traces.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "profiler/base/text_table.h"

namespace rangefinder {

enum class Unit : std::uint8_t {
  text,
  count,
  ns,
  bytes,
  bytes_per_s,
  share,    ///< 0.25: shown as 25.0 %
  percent,  ///< 25: shown as 25.0 %
  factor,   ///< 1.5: shown as 1.50x
  number    ///< no unit; three significant digits
};

/// The outputs that show a table or a column.
struct Outputs {
  bool text = true, markdown = true, json = true, csv = true;
};
inline constexpr Outputs kForPeople{true, true, false, false}, kForPrograms{false, false, true, true};
inline constexpr Outputs kNotInText{false, true, true, true}, kOnlyText{true, false, false, false};
inline constexpr Outputs kOnlyJson{false, false, true, false}, kOnlyCsv{false, false, false, true};

struct TableColumn {
  std::string key;    ///< for JSON and CSV, includes the unit: "gpu_ns"
  std::string title;  ///< for people: "GPU time"
  Unit unit = Unit::text;
  int importance = kAlwaysShown;  ///< a narrow terminal drops the lowest first
  std::string about = {};         ///< what it means, in a few words; for TextStyle::explain
  Outputs in = {};
};

/// std::monostate: unknown or not measured, which is never 0.
using CellValue = std::variant<std::monostate, std::uint64_t, std::int64_t, double, bool, std::string>;

/// A text that few cells have: one pointer. A table has millions of cells where a trace has 65,536 paths.
class RareText {
 public:
  RareText() = default;
  RareText(std::string text)
      : text_(text.empty() ? nullptr : std::make_unique<std::string>(std::move(text))) {}
  RareText(const char* text) : RareText(std::string(text)) {}
  RareText(const RareText& other) : RareText(other.text()) {}
  RareText(RareText&& other) noexcept = default;
  RareText& operator=(RareText other) noexcept {
    text_ = std::move(other.text_);
    return *this;
  }
  ~RareText() = default;

  RareText& operator+=(std::string_view more) { return *this = text() + std::string(more); }
  [[nodiscard]] bool empty() const noexcept { return text_ == nullptr; }
  [[nodiscard]] const std::string& text() const {
    static const std::string kNone;
    return text_ ? *text_ : kNone;
  }

 private:
  std::unique_ptr<std::string> text_;
};

struct Cell {
  CellValue value;
  RareText shown;  ///< for people, instead of the formatted value: an indented or shortened name
  RareText sign;   ///< for people, behind the formatted value: "+" for a lower bound

  // Not inline: gcc 12 warns about uninitialised members when the variant's moves are inlined.
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
  std::vector<std::vector<Cell>> rows;           ///< each with one cell per column
  std::string empty;                             ///< text shown if there are no rows
  std::string remarks;                           ///< complete lines below it, for people
  CutSide cut = CutSide::front;                  ///< how to shorten texts in the first column
  std::size_t min_first_width = kMinFirstWidth;  ///< its width below which other columns are omitted instead
  /// False: the order of rows has a meaning, such as a tree or a time line. --top keeps the first rows.
  bool sortable = true;
  /// True: already sorted and cut by the user's options.
  bool arranged = false;
  /// True: one row, which is an object in JSON, not an array of one. Without a name its members are those of
  /// the report.
  bool single = false;
  Outputs in = {};
  /// Rows for JSON and CSV in place of the above, if another format defines them: those of summary.json.
  std::shared_ptr<const nlohmann::ordered_json> records = {};

  /// Appends a row; missing cells are empty.
  void add(std::vector<Cell> cells);
};

/// A column's key for its short name: "gpu_ns" for "gpu"; other texts as they are.
[[nodiscard]] const std::string& sort_key(const std::string& name);

/// The column that --sort names by its key or its short name; nullptr: there is none.
[[nodiscard]] const TableColumn* sort_column(const Table& table, const std::string& name);

/// Sorts by a column, stably: largest number first, texts in alphabetical order, empty cells last.
/// `name`: as for sort_column(). False: there is none.
bool sort_rows(Table& table, const std::string& name);

/// Removes columns that `shown` does not have.
void keep_columns(Table& table, bool Outputs::*shown);

/// Removes columns without values, except the first. A table without rows keeps all.
void drop_empty_columns(Table& table);
[[nodiscard]] Table without_empty_columns(Table table);

/// Keeps the first `rows` rows; 0: all.
void keep_first(Table& table, std::uint64_t rows);

}  // namespace rangefinder
