// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/diff/diff_answer.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "profiler/base/number_text.h"
#include "tools/analysis/table/table_render.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMarkdownRows = 20;

OrderedJson side_json(const IterationSeries& series) {
  return {{"trace", series.title},
          {"iteration_path", series.iteration_path},
          {"iterations", series.iterations},
          {"counters", series.counters},
          {"batches", series.batches}};
}

/// What fits the width of a comment.
void narrow(Table& table) {
  constexpr std::array<std::string_view, 7> kKeys{"path",     "quantity",          "a",      "b",
                                                  "relative", "relative_interval", "verdict"};
  for (std::size_t i = table.columns.size(); i-- > 0;) {
    if (std::find(kKeys.begin(), kKeys.end(), table.columns[i].key) != kKeys.end()) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    table.columns.erase(table.columns.begin() + at);
    for (auto& row : table.rows) row.erase(row.begin() + at);
  }
}

Table differences_table(const std::vector<std::string>& differences) {
  Table out;
  out.columns = {{"difference", "Differences between the runs", Unit::text}};
  for (const std::string& text : differences) out.add({Cell(CellValue(text))});
  return out;
}

}  // namespace

DiffAnswer::DiffAnswer(IterationSeries of_a, IterationSeries of_b, const DiffOptions& how)
    : a(std::move(of_a)),
      b(std::move(of_b)),
      options(how),
      diff(compare(a, b, options)),
      verdict(verdict_of(diff, a, b, options.least)),
      ratios(ratios_of(diff, a, b)),
      differences(differences_of(a, b)) {}

std::vector<Table> DiffAnswer::tables(bool all) const {
  std::vector<Table> out{iteration_changes(diff), module_changes(diff, all), kernel_changes(diff, all)};
  if (Table calls = call_changes(diff, all); !calls.rows.empty()) out.push_back(std::move(calls));
  return out;
}

OrderedJson DiffAnswer::json(const std::vector<Table>& tables) const {
  OrderedJson out{
      {"schema", "rangefinder.diff"}, {"version", "1.0"}, {"a", side_json(a)}, {"b", side_json(b)}};
  out["differences"] = differences;
  out["verdict"] = {{"result", verdict.result}, {"text", verdict.text}};
  if (const std::string text = ratios.text(); !text.empty()) {
    if (ratios.kernels) out["ratios"]["kernels"] = *ratios.kernels;
    if (ratios.iterations) out["ratios"]["iterations"] = *ratios.iterations;
    out["ratios"]["text"] = text;
  }
  for (const Table& table : tables) out[table.name] = render_rows(table);
  return out;
}

std::string DiffAnswer::markdown(std::vector<Table> tables) const {
  std::string out;
  for (Table& table : tables) {
    if (table.name == "kernels") continue;
    narrow(table);
    // A table's title is bold, and its text escaped.
    if (out.empty()) {
      table.title = verdict.text;
    } else if (const std::size_t rows = table.rows.size(); rows > kMarkdownRows) {
      table.title += ": the first " + count_text(kMarkdownRows) + " of " + count_text(rows) + " rows";
      keep_first(table, kMarkdownRows);
    }
    out += render_markdown(table, false) + "\n";
  }
  if (const std::string text = ratios.text(); !text.empty()) out += text + "\n\n";
  if (!differences.empty()) out += render_markdown(differences_table(differences), false) + "\n";
  return out + "A: " + counted_text(a.iterations, "iteration", "iterations") +
         ", B: " + count_text(b.iterations) + ". ±: half the 95 % confidence interval of the change.\n";
}

}  // namespace rangefinder
