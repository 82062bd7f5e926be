// SPDX-License-Identifier: Apache-2.0
//
// Renders a Table as text, Markdown, CSV or JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/table/table.h"

namespace rangefinder {

struct TextStyle {
  std::size_t width = 110;  ///< columns of the terminal; 0: unlimited
  bool colour = false;      ///< also of rows: worse, better, and below 1 % of the time
  bool raw = false;         ///< plain numbers (ns, bytes) instead of human units
  bool explain = false;     ///< the meaning of each column below the table
};

/// A formatted cell: "48.1 ms"; raw: "48120000".
[[nodiscard]] std::string cell_text(const Cell& cell, Unit unit, bool raw);

/// Title, table, remarks and the names of columns omitted for lack of width; `empty` if there are no rows.
[[nodiscard]] std::string render_text(const Table& table, const TextStyle& style);

/// A GitHub-flavoured table, with human units unless `raw`. Names are escaped.
[[nodiscard]] std::string render_markdown(const Table& table, bool raw);

/// RFC 4180 with a header line of keys; plain numbers.
[[nodiscard]] std::string render_csv(const Table& table);

/// An array of objects with one key per column; empty cells are omitted. Table::records, if there are any.
[[nodiscard]] nlohmann::ordered_json render_rows(const Table& table);

/// JSON rows as a table for CSV: one column per key, in order of first appearance. Joins keys of nested
/// objects with '.' and array items with ';'.
[[nodiscard]] Table table_of_rows(std::string name, const nlohmann::ordered_json& rows);

/// `text` as a CSV field, quoted if necessary. A field that begins like a spreadsheet formula or with a space
/// is quoted, not changed.
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace rangefinder
