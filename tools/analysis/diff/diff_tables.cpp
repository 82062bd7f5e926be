// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <utility>

#include "tools/analysis/diff/trace_diff.h"
#include "tools/analysis/tables/kernel_text.h"
#include "tools/analysis/tables/table_render.h"

namespace rangefinder {
namespace {

struct QuantityName {
  const char* key;
  const char* title;
  Unit unit;
};
/// By Quantity.
constexpr QuantityName kQuantityNames[] = {
    {"gpu_ns", "GPU time", Unit::ns}, {"dram_bytes", "DRAM", Unit::bytes}, {"l2_bytes", "L2", Unit::bytes}};

/// A value in the unit of its quantity: one column holds times and bytes.
Cell value_cell(const std::optional<double>& value, Quantity quantity, bool with_sign = false) {
  if (!value) return {};
  const Unit unit = kQuantityNames[static_cast<std::size_t>(quantity)].unit;
  std::string text = cell_text(Cell(CellValue(*value)), unit, false);
  if (with_sign && *value > 0) text.insert(0, 1, '+');
  return Cell(CellValue(*value), std::move(text));
}

Cell percent_cell(const std::optional<double>& part) {
  if (!part) return {};
  std::string text = cell_text(Cell(CellValue(*part)), Unit::share, false);
  if (*part > 0) text.insert(0, 1, '+');
  return Cell(CellValue(*part), std::move(text));
}

/// Half the 95 % interval of the relative change, or the stated error of samples.
Cell interval_cell(const Change& change) {
  if (!change.a || *change.a == 0) return {};
  std::optional<double> half = change.bound;
  if (change.test) half = change.test->half_interval;
  if (!half) return {};
  const double part = *half / *change.a;
  return Cell(CellValue(part), cell_text(Cell(CellValue(part)), Unit::share, false));
}

Table changes_table(const std::vector<Change>& changes, bool all, bool kernels) {
  Table out;
  out.name = kernels ? "kernels" : "modules";
  out.title = kernels ? "Kernels" : "Modules";
  out.empty = all ? "Nothing to compare." : "No change (--all shows every row).";
  out.cut = kernels || !all ? CutSide::front : CutSide::back;
  out.sortable = kernels;
  out.columns = {{kernels ? "name" : "path", kernels ? "kernel" : "module", Unit::text},
                 {"quantity", "what", Unit::text},
                 {"a", "A", Unit::number, 90},
                 {"b", "B", Unit::number, 90},
                 {"difference", "B - A", Unit::number, 60},
                 {"relative", "change", Unit::share},
                 {"relative_interval", "±", Unit::share, 80},
                 {"p", "p", Unit::number, 20},
                 {"n_a", "n A", Unit::count, 10},
                 {"n_b", "n B", Unit::count, 10},
                 {"verdict", "verdict", Unit::text}};
  if (kernels) out.columns.push_back({"where", "mostly in", Unit::text, 30});
  for (const Change& change : changes) {
    if (!all && (change.verdict == Verdict::same || change.verdict == Verdict::untested)) continue;
    const QuantityName& quantity = kQuantityNames[static_cast<std::size_t>(change.quantity)];
    std::optional<double> difference;
    if (change.a && change.b) difference = *change.b - *change.a;
    const std::string shown = kernels ? short_kernel_name(change.key) : change.shown;
    std::vector<Cell> cells{Cell(CellValue(change.key), all || kernels ? shown : change.key),
                            Cell(CellValue(std::string(quantity.key)), quantity.title),
                            value_cell(change.a, change.quantity),
                            value_cell(change.b, change.quantity),
                            value_cell(difference, change.quantity, true),
                            percent_cell(change.relative()),
                            interval_cell(change),
                            change.test ? Cell(CellValue(change.test->p)) : Cell(),
                            Cell(CellValue(std::uint64_t{change.n_a})),
                            Cell(CellValue(std::uint64_t{change.n_b})),
                            Cell(verdict_name(change.verdict))};
    if (kernels) cells.push_back(Cell(CellValue(change.where)));
    out.add(std::move(cells));
  }
  return out;
}

}  // namespace

Table module_changes(const TraceDiff& diff, bool all) {
  if (all) return changes_table(diff.modules, all, false);
  std::vector<Change> heaviest = diff.modules;
  heaviest_first(heaviest);
  return changes_table(heaviest, all, false);
}

Table kernel_changes(const TraceDiff& diff, bool all) {
  return changes_table(diff.kernels, all, true);
}

}  // namespace rangefinder
