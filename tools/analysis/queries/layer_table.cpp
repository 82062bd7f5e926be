// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/layer_table.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "tools/analysis/queries/cells.h"

namespace rangefinder {
namespace {

constexpr std::string_view kForward = "forward", kBackward = "backward";

/// Names a path with its parent.
using ChildKey = std::pair<std::uint32_t, std::string>;

/// The path `parent`/`names`, the last name first; 0: there is none.
std::uint32_t find_below(const TraceTotals& trace, const std::map<ChildKey, std::uint32_t>& children,
                         std::uint32_t parent, const std::vector<std::uint32_t>& names) {
  for (auto at = names.rbegin(); at != names.rend(); ++at) {
    const auto child = children.find({parent, trace.own_name(*at)});
    if (child == children.end()) return 0;
    parent = child->second;
  }
  return parent;
}

/// The same path without its level `backward`, or with `forward` in its place; 0: there is none.
std::uint32_t forward_of(const TraceTotals& trace, const std::map<ChildKey, std::uint32_t>& children,
                         std::uint32_t path) {
  std::vector<std::uint32_t> below;  // the innermost first
  while (path != 0 && trace.own_name(path) != kBackward) {
    below.push_back(path);
    path = trace.parent_of(path);
  }
  // `step/backward` is no module, and `step` no forward pass of it.
  if (path == 0 || below.empty() || in_backward(trace, trace.parent_of(path))) return 0;
  const std::uint32_t above = trace.parent_of(path);
  const std::uint32_t forward = find_below(trace, children, above, below);
  if (forward != 0) return forward;
  const auto named = children.find({above, std::string(kForward)});
  return named == children.end() ? 0 : find_below(trace, children, named->second, below);
}

/// A layer with its sums.
struct BothPasses {
  BothPasses(const Layer& of, const RowValues& values) : layer(of) {
    bytes.add(of.forward, values);
    if (of.backward) bytes.add(*of.backward, values);
  }

  const Layer& layer;
  SummedBytes bytes;

  [[nodiscard]] std::uint64_t sum(std::uint64_t PathTotals::*value) const {
    return layer.forward.*value + (layer.backward ? (*layer.backward).*value : 0);
  }
  [[nodiscard]] bool timed() const {
    return layer.forward.has_gpu_time() && (!layer.backward || layer.backward->has_gpu_time());
  }
};

std::uint64_t weight(const BothPasses& row, const RowValues& values, const std::string& sort) {
  const auto& [forward, backward] = row.layer;
  if (sort == "forward_gpu_ns") return forward.gpu_ns;
  if (sort == "backward_gpu_ns") return backward ? backward->gpu_ns : 0;
  const std::uint64_t own = module_weight(forward, values, sort);
  return backward && sort != "calls" ? own + module_weight(*backward, values, sort) : own;
}

Cell time_cell(const PathTotals& row) {
  return cell_if(row.has_gpu_time(), row.gpu_ns);
}

struct LayerColumn {
  TableColumn column;
  std::function<Cell(const BothPasses&)> cell;
};

/// What people see as indent and signs.
TableColumn for_programs(const char* key, Unit unit) {
  return {key, key, unit, kAlwaysShown, "", kForPrograms};
}

std::vector<LayerColumn> columns_of(const TraceTotals& trace) {
  const std::uint64_t all_ns = all_gpu_ns(trace);
  const auto flag = [](bool set) { return set ? Cell(CellValue(true)) : Cell(); };
  const auto text_if = [](const std::string& text) { return text.empty() ? Cell() : text_cell(text); };
  const auto source = [&trace](const BothPasses& row) -> const SourceLines& {
    return trace.source_of(row.layer.forward.path);
  };
  TableColumn of_people = source_column();
  of_people.in = kForPeople;
  const auto gpu_cell = [](const BothPasses& row) {
    return cell_if(row.timed(), row.sum(&PathTotals::gpu_ns));
  };
  return {
      {for_programs("depth", Unit::count),
       [](const BothPasses& row) { return number_cell(std::uint64_t{row.layer.forward.depth}); }},
      {{"calls", "calls", Unit::count, 60},
       [](const BothPasses& row) { return number_cell(row.layer.forward.calls); }},
      {{"kernels", "kernels", Unit::count, 50},
       [](const BothPasses& row) { return number_cell(row.sum(&PathTotals::kernels)); }},
      {{"forward_gpu_ns", "forward", Unit::ns},
       [](const BothPasses& row) { return time_cell(row.layer.forward); }},
      {{"backward_gpu_ns", "backward", Unit::ns},
       [](const BothPasses& row) { return row.layer.backward ? time_cell(*row.layer.backward) : Cell(); }},
      {{"gpu_ns", "GPU time", Unit::ns}, gpu_cell},
      {{"share", "share", Unit::share},
       [=](const BothPasses& row) {
         return row.timed() ? ratio_cell(row.sum(&PathTotals::gpu_ns), all_ns) : Cell();
       }},
      {{"dram_bytes", "DRAM", Unit::bytes}, [](const BothPasses& row) { return row.bytes.dram_cell(); }},
      {{"bytes_error_pct", "DRAM ±", Unit::number, 85},
       [](const BothPasses& row) { return row.bytes.bound_cell(); }},
      {for_programs("bytes_source", Unit::text),
       [](const BothPasses& row) {
         if (!row.bytes.measured) return Cell();
         return Cell(row.bytes.split     ? "split"
                     : row.bytes.gpm     ? "gpm"
                     : row.bytes.sampled ? "sampled"
                                         : "exact");
       }},
      {for_programs("bytes_partial", Unit::text),
       [=](const BothPasses& row) { return flag(row.bytes.measured && row.bytes.partial); }},
      {for_programs("bytes_estimated", Unit::text),
       [=](const BothPasses& row) { return flag(row.bytes.measured && row.bytes.estimated); }},
      {of_people, [&trace](const BothPasses& row) { return source_cell(trace, row.layer.forward.path); }},
      {for_programs("class_source", Unit::text),
       [=](const BothPasses& row) { return text_if(source(row).of_class); }},
      {for_programs("call_source", Unit::text),
       [=](const BothPasses& row) { return text_if(source(row).of_call); }},
  };
}

std::string remarks(const std::vector<BothPasses>& rows) {
  const auto any = [&rows](auto has) { return std::any_of(rows.begin(), rows.end(), has); };
  std::string out =
      "Forward and backward pass of a module, as in --section modules. DRAM: read and written in both.\n";
  if (any([](const BothPasses& row) { return row.bytes.measured && row.bytes.partial; })) {
    out += "+: lower bound; part of that module's work was not measured.\n";
  }
  if (any([](const BothPasses& row) { return row.bytes.marked(); })) out += kCarryOverRemark;
  NoNumbers without;
  for (const BothPasses& row : rows) {
    if (row.bytes.lacks_number()) without.add(row.bytes.need, row.bytes.text().error);
  }
  return out + without.remark();
}

}  // namespace

bool in_backward(const TraceTotals& trace, std::uint32_t path) {
  for (; path != 0; path = trace.parent_of(path)) {
    if (trace.own_name(path) == kBackward) return true;
  }
  return false;
}

std::vector<Layer> joined_layers(const TraceTotals& trace) {
  const std::vector<PathTotals> rows = trace.totals.paths();
  std::map<ChildKey, std::uint32_t> children;
  for (const PathTotals& row : rows) {
    if (row.path != 0)
      children.emplace(ChildKey(trace.parent_of(row.path), trace.own_name(row.path)), row.path);
  }
  std::unordered_map<std::uint32_t, const PathTotals*> backward_of;
  for (const PathTotals& row : rows) {
    if (const std::uint32_t forward = forward_of(trace, children, row.path); forward != 0)
      backward_of.emplace(forward, &row);
  }
  std::vector<Layer> out;
  std::unordered_set<std::uint32_t> layers;  // parents come first
  for (const PathTotals& row : rows) {
    if (row.path == 0 || in_backward(trace, row.path)) continue;
    const auto backward = backward_of.find(row.path);
    if (backward == backward_of.end() && layers.count(trace.parent_of(row.path)) == 0) continue;
    layers.insert(row.path);
    if (!trace.shows(row.path)) continue;
    out.push_back({row, backward == backward_of.end() ? std::nullopt : std::optional(*backward->second)});
  }
  return out;
}

const std::vector<std::string>& layer_sort_columns() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names = module_sort_columns();
    names.insert(names.end(), {"forward_gpu_ns", "backward_gpu_ns"});
    return names;
  }();
  return kNames;
}

Table layer_table(const TraceTotals& trace, const RowValues& values, const ModuleView& view) {
  Table table;
  table.name = "layers";
  table.empty = no_layers_hint(!trace.sources.empty());
  table.cut = view.flat || trace.in_range ? CutSide::front : CutSide::back;
  table.arranged = true;
  table.columns.push_back({"path", "layer", Unit::text});
  const std::vector<LayerColumn> columns = columns_of(trace);
  for (const LayerColumn& column : columns) table.columns.push_back(column.column);

  const std::vector<Layer> layers = joined_layers(trace);
  std::vector<BothPasses> all;
  std::vector<WeightedRow> weighted;
  for (const Layer& layer : layers) {
    const BothPasses& row = all.emplace_back(layer, values);
    weighted.push_back({layer.forward.path, layer.forward.depth, weight(row, values, sort_key(view.sort))});
  }
  const std::vector<std::size_t> selected = select_rows(trace, weighted, view);
  std::unordered_set<std::uint32_t> shown;
  for (const std::size_t i : selected) shown.insert(weighted[i].path);
  const ModuleNames names(trace, std::move(shown), view.flat);
  std::vector<BothPasses> rows;
  for (const std::size_t i : selected) {
    const BothPasses& row = rows.emplace_back(all[i]);
    const std::uint32_t path = weighted[i].path;
    std::vector<Cell> cells{Cell(CellValue(trace.path_text(path)), names.name(path))};
    for (const LayerColumn& column : columns) cells.push_back(column.cell(row));
    table.add(std::move(cells));
  }
  table.remarks = remarks(rows);
  return without_empty_columns(std::move(table));
}

void SummedBytes::add(const PathTotals& row, const RowValues& values) {
  const RowBytes bytes = values.bytes(row);
  if (bytes.source == RowBytes::Source::none) {
    partial |= has_work(row);
    return;
  }
  measured = true;
  dram += bytes.dram();
  partial |= bytes.partial() || bytes.partly_sampled();
  split |= bytes.split;
  estimated |= bytes.estimated;
  if (bytes.inseparable != 0) reason = kInseparable;
  if (bytes.carry_over) carry_over = carry_over.value_or(0) + *bytes.carry_over;
  if (!bytes.is_bounded()) return;
  sampled = true;
  gpm |= bytes.source == RowBytes::Source::gpm;
  need.add(values, row);
  has_bound &= bytes.dram_error().has_value();
  if (has_bound) bound += *bytes.dram_error();
}

BoundedText SummedBytes::text() const {
  return bounded_text(dram, sampled && has_bound ? std::optional(bound) : std::nullopt, reason);
}

Cell SummedBytes::dram_cell() const {
  if (!measured) return {};
  Cell out = number_cell(dram);
  if (lacks_number()) {
    out.shown = kNoNumber;
  } else if (partial) {
    out.sign = "+";
  }
  if (split) out.sign += "÷";
  if (marked()) out.sign += kCarryOverMark;
  return out;
}

Cell SummedBytes::bound_cell() const {
  if (!sampled || !has_bound || dram == 0) return {};
  return Cell(CellValue(100 * bound / static_cast<double>(dram)), text().error);
}

}  // namespace rangefinder
