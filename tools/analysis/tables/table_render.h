// SPDX-License-Identifier: Apache-2.0
//
// A Table as text for people or for programs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/tables/table.h"

namespace rangefinder {

struct TextStyle {
  std::size_t width = 110;  ///< 0: as long as it gets
  bool colour = false;
  bool raw = false;  ///< plain numbers (ns, bytes) instead of human units
};

/// A cell as people read it: "48.1 ms"; raw: "48120000".
[[nodiscard]] std::string cell_text(const Cell& cell, Unit unit, bool raw);

/// Title, table, remarks and what was left out for lack of room; `empty` where there are no rows.
[[nodiscard]] std::string render_text(const Table& table, const TextStyle& style);

/// GitHub's tables, human units unless `raw`. Names are escaped.
[[nodiscard]] std::string render_markdown(const Table& table, bool raw);

/// RFC 4180 with a line of keys; plain numbers.
[[nodiscard]] std::string render_csv(const Table& table);

/// An array of objects, key by column; empty cells are left out.
[[nodiscard]] nlohmann::ordered_json render_rows(const Table& table);

/// JSON rows as a table for CSV: one column a key, objects inside flattened with '.', arrays joined
/// with ';'. Columns in order of first appearance.
[[nodiscard]] Table table_of_rows(std::string name, const nlohmann::ordered_json& rows);

/// `text` as a CSV field: quoted where it must be. A field that a spreadsheet would take for a formula,
/// or that begins with a space, is quoted, not changed.
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace rangefinder
