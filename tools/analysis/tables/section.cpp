// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/tables/section.h"

#include <nlohmann/json.hpp>

#include "tools/analysis/tables/table_render.h"

namespace rangefinder {

nlohmann::ordered_json Section::json(const SectionInput& input) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  std::vector<Table> all = tables(input);
  arrange(all, input.view);
  for (const Table& table : all) out[table.name] = render_rows(table);
  return out;
}

std::string Section::text(const SectionInput& input, const TextStyle& style) {
  return render_tables(tables(input), input.view, style);
}

std::string render_tables(std::vector<Table> all, const SectionView& view, const TextStyle& style) {
  arrange(all, view);
  std::string out;
  for (const Table& table : all) {
    const std::string text = render_text(table, style);
    if (!text.empty()) out += (out.empty() ? "" : "\n") + text;  // some tables have no text when empty
  }
  return out;
}

void arrange(std::vector<Table>& tables, const SectionView& view) {
  for (Table& table : tables) {
    if (table.arranged) continue;
    if (!view.sort.empty() && table.sortable) static_cast<void>(sort_rows(table, view.sort));
    keep_first(table, view.top);
  }
}

}  // namespace rangefinder
