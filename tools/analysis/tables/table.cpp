// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/tables/table.h"

#include <algorithm>
#include <type_traits>

namespace rangefinder {
namespace {

/// Every number as a double, for sorting only.
double magnitude(const CellValue& value) {
  return std::visit(
      [](const auto& v) -> double {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(v)>>) return static_cast<double>(v);
        return 0;
      },
      value);
}

bool before(const Cell& a, const Cell& b) {
  if (a.empty() || b.empty()) return !a.empty() && b.empty();
  const auto* const left = std::get_if<std::string>(&a.value);
  const auto* const right = std::get_if<std::string>(&b.value);
  if (left != nullptr && right != nullptr) return *left < *right;
  return magnitude(a.value) > magnitude(b.value);
}

}  // namespace

Cell::Cell() = default;
Cell::Cell(CellValue v, std::string s) : value(std::move(v)), shown(std::move(s)) {}
Cell::Cell(const char* text) : value(std::string(text)) {}
Cell::Cell(const Cell& other) = default;
Cell::Cell(Cell&& other) noexcept = default;
Cell& Cell::operator=(const Cell& other) = default;
Cell& Cell::operator=(Cell&& other) noexcept = default;
Cell::~Cell() = default;

void Table::add(std::vector<Cell> cells) {
  cells.resize(columns.size());
  rows.push_back(std::move(cells));
}

bool sort_rows(Table& table, const std::string& key) {
  const auto at = std::find_if(table.columns.begin(), table.columns.end(),
                               [&key](const TableColumn& column) { return column.key == key; });
  if (at == table.columns.end()) return false;
  const auto i = static_cast<std::size_t>(at - table.columns.begin());
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [i](const auto& a, const auto& b) { return before(a[i], b[i]); });
  return true;
}

void drop_empty_columns(Table& table) {
  for (std::size_t i = table.columns.size(); i-- > 1;) {
    const auto has_none = [i](const std::vector<Cell>& row) { return row[i].empty(); };
    if (!std::all_of(table.rows.begin(), table.rows.end(), has_none)) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    table.columns.erase(table.columns.begin() + at);
    for (auto& row : table.rows) row.erase(row.begin() + at);
  }
}

void keep_first(Table& table, std::uint64_t rows) {
  if (rows != 0 && table.rows.size() > rows) table.rows.resize(rows);
}

}  // namespace rangefinder
