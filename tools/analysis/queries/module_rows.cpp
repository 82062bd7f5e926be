// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/module_rows.h"

#include <algorithm>
#include <unordered_map>

#include "profiler/base/number_text.h"
#include "tools/analysis/queries/cells.h"

namespace rangefinder {
namespace {

using Positions = std::vector<std::size_t>;

void sort_by_weight(const std::vector<WeightedRow>& rows, Positions& positions) {
  std::stable_sort(positions.begin(), positions.end(),
                   [&rows](std::size_t a, std::size_t b) { return rows[a].weight > rows[b].weight; });
}

/// Keeps the `top` heaviest rows and, in a tree, their ancestors.
Positions keep_heaviest(const TraceTotals& trace, const std::vector<WeightedRow>& rows,
                        const Positions& positions, const ModuleView& view) {
  Positions sorted = positions;
  sort_by_weight(rows, sorted);
  if (sorted.size() > view.top) sorted.resize(view.top);
  std::unordered_set<std::uint32_t> kept;
  for (const std::size_t i : sorted) {
    kept.insert(rows[i].path);
    for (std::uint32_t up = trace.parent_of(rows[i].path); up != 0 && !view.flat; up = trace.parent_of(up)) {
      kept.insert(up);
    }
  }
  Positions out;
  for (const std::size_t i : positions) {
    if (kept.count(rows[i].path) != 0) out.push_back(i);
  }
  return out;
}

/// Parents before their children; siblings in the order of `positions`.
Positions in_tree_order(const TraceTotals& trace, const std::vector<WeightedRow>& rows,
                        const Positions& positions) {
  std::unordered_set<std::uint32_t> present;
  for (const std::size_t i : positions) present.insert(rows[i].path);
  std::unordered_map<std::uint32_t, Positions> children;
  for (const std::size_t i : positions) {
    std::uint32_t parent = trace.parent_of(rows[i].path);
    while (parent != 0 && present.count(parent) == 0) parent = trace.parent_of(parent);
    children[parent].push_back(i);
  }
  Positions out;
  Positions open(children[0].rbegin(), children[0].rend());
  while (!open.empty()) {
    const std::size_t i = open.back();
    open.pop_back();
    out.push_back(i);
    const Positions& below = children[rows[i].path];
    open.insert(open.end(), below.rbegin(), below.rend());
  }
  return out;
}

}  // namespace

std::vector<std::size_t> select_rows(const TraceTotals& trace, const std::vector<WeightedRow>& rows,
                                     const ModuleView& view) {
  Positions positions;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (view.depth == 0 || rows[i].depth <= view.depth) positions.push_back(i);
  }
  if (view.top != 0) positions = keep_heaviest(trace, rows, positions, view);
  if (view.flat || !view.sort.empty()) sort_by_weight(rows, positions);
  return view.flat ? positions : in_tree_order(trace, rows, positions);
}

std::string ModuleNames::name(std::uint32_t path) const {
  if (path == 0) return path_title(trace_, 0);
  std::string name = trace_.path_text(path);
  if (flat_) return printable(name);
  std::size_t levels = 0;
  std::uint32_t nearest = 0;  // the row above this one; 0: none
  for (std::uint32_t up = trace_.parent_of(path); up != 0; up = trace_.parent_of(up)) {
    if (shown_.count(up) == 0) continue;
    if (nearest == 0) nearest = up;
    ++levels;
  }
  if (trace_.parent_of(path) == nearest) {
    name = trace_.own_name(path);
  } else if (nearest != 0) {
    name.erase(0, trace_.path_text(nearest).size() + 1);
  }
  return std::string(2 * levels, ' ') + printable(name);
}

}  // namespace rangefinder
