// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/section.h"

#include <nlohmann/json.hpp>

#include "tools/analysis/table/table_render.h"

namespace rangefinder {

nlohmann::ordered_json Section::json(const SectionInput& input) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const Table& table : shown_tables(tables(input), &Outputs::json, input.view)) {
    nlohmann::ordered_json rows = render_rows(table);
    if (!table.single) {
      out[table.name] = std::move(rows);
    } else if (!rows.empty()) {
      table.name.empty() ? out.update(rows.front()) : void(out[table.name] = std::move(rows.front()));
    }
  }
  return out;
}

void Section::read(const EachRows& each) {
  each([this](const SelectedRows& rows) { add(rows); });
  finish();
}

std::string Section::text(const SectionInput& input, const TextStyle& style) {
  return render_tables(tables(input), input.view, style);
}

std::vector<Table> csv_tables(std::vector<Table> tables, const SectionView& view) {
  std::vector<Table> out = shown_tables(std::move(tables), &Outputs::csv, view);
  for (Table& table : out) {
    if (table.records == nullptr) continue;
    std::string name = std::move(table.name);
    table = table_of_rows(std::move(name), *table.records);
    // By a column: all rows, not level by level.
    if (!view.sort.empty()) static_cast<void>(sort_rows(table, view.sort));
    table.arranged = true;
  }
  return out;
}

std::string render_tables(std::vector<Table> all, const SectionView& view, const TextStyle& style) {
  std::string out;
  for (const Table& table : shown_tables(std::move(all), &Outputs::text, view)) {
    const std::string text = render_text(table, style);
    if (!text.empty()) out += (out.empty() ? "" : "\n") + text;  // some tables have no text when empty
  }
  return out;
}

std::vector<Table> shown_tables(std::vector<Table> tables, bool Outputs::*in, const SectionView& view) {
  std::erase_if(tables, [in](const Table& table) { return !(table.in.*in); });
  for (Table& table : tables) keep_columns(table, in);
  arrange(tables, view);
  return tables;
}

void arrange(std::vector<Table>& tables, const SectionView& view) {
  for (Table& table : tables) {
    if (table.arranged) continue;
    if (!view.sort.empty() && table.sortable) static_cast<void>(sort_rows(table, view.sort));
    keep_first(table, view.top);
  }
}

}  // namespace rangefinder
