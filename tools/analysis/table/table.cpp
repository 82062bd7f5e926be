// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/table/table.h"

#include <algorithm>
#include <map>
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

void erase_column(Table& table, std::size_t i) {
  const auto at = static_cast<std::ptrdiff_t>(i);
  table.columns.erase(table.columns.begin() + at);
  for (auto& row : table.rows) row.erase(row.begin() + at);
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

const std::string& sort_key(const std::string& name) {
  static const std::map<std::string, std::string, std::less<>> kShort{{"gpu", "gpu_ns"},
                                                                      {"self", "gpu_ns_exclusive"},
                                                                      {"busy", "gpu_busy_ns"},
                                                                      {"host", "host_ns"},
                                                                      {"dram", "dram_bytes"},
                                                                      {"read", "dram_read_bytes"},
                                                                      {"write", "dram_write_bytes"},
                                                                      {"l2", "l2_bytes"},
                                                                      {"declared", "declared_bytes"},
                                                                      {"total", "total_ns"},
                                                                      {"mean", "mean_ns"},
                                                                      {"min", "min_ns"},
                                                                      {"max", "max_ns"},
                                                                      {"forward", "forward_gpu_ns"},
                                                                      {"backward", "backward_gpu_ns"}};
  const auto at = kShort.find(name);
  return at == kShort.end() ? name : at->second;
}

const TableColumn* sort_column(const Table& table, const std::string& name) {
  for (const std::string& key : {name, sort_key(name)}) {
    for (const TableColumn& column : table.columns) {
      if (column.key == key) return &column;
    }
  }
  return nullptr;
}

bool sort_rows(Table& table, const std::string& name) {
  const TableColumn* const by = sort_column(table, name);
  if (by == nullptr) return false;
  const auto i = static_cast<std::size_t>(by - table.columns.data());
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [i](const auto& a, const auto& b) { return before(a[i], b[i]); });
  return true;
}

void keep_columns(Table& table, bool Outputs::*shown) {
  for (std::size_t i = table.columns.size(); i-- > 0;) {
    if (!(table.columns[i].in.*shown)) erase_column(table, i);
  }
}

void drop_empty_columns(Table& table) {
  if (table.rows.empty()) return;
  for (std::size_t i = table.columns.size(); i-- > 1;) {
    const auto has_none = [i](const std::vector<Cell>& row) { return row[i].empty(); };
    if (std::all_of(table.rows.begin(), table.rows.end(), has_none)) erase_column(table, i);
  }
}

Table without_empty_columns(Table table) {
  drop_empty_columns(table);
  return table;
}

void keep_first(Table& table, std::uint64_t rows) {
  if (rows != 0 && table.rows.size() > rows) table.rows.resize(rows);
}

}  // namespace rangefinder
