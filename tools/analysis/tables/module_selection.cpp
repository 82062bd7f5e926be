// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "tools/analysis/tables/module_table.h"

namespace rangefinder {
namespace {

/// A row with its bytes, so that they are looked up only once.
struct SortRow {
  PathTotals totals;
  RowBytes bytes;
};
using ModuleKey = std::uint64_t (*)(const SortRow&);

const std::map<std::string, ModuleKey>& module_keys() {
  static const std::map<std::string, ModuleKey> kKeys{
      {"calls", [](const SortRow& row) { return row.totals.calls; }},
      {"kernels", [](const SortRow& row) { return row.totals.kernels; }},
      {"gpu", [](const SortRow& row) { return row.totals.gpu_ns; }},
      {"self", [](const SortRow& row) { return row.totals.gpu_ns_exclusive; }},
      {"busy", [](const SortRow& row) { return row.totals.gpu_busy_ns; }},
      {"host", [](const SortRow& row) { return row.totals.host_ns; }},
      {"dram", [](const SortRow& row) { return row.bytes.dram(); }},
      {"read", [](const SortRow& row) { return row.bytes.read; }},
      {"write", [](const SortRow& row) { return row.bytes.write; }},
      {"l2", [](const SortRow& row) { return row.bytes.l2; }},
      {"declared", [](const SortRow& row) { return row.totals.declared_bytes; }},
  };
  return kKeys;
}

ModuleKey sort_key(const std::string& name) {
  return module_keys().at(name.empty() ? "gpu" : name);
}

void sort_rows(std::vector<PathTotals>& rows, ModuleKey key, const RowValues& values) {
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  for (std::size_t i = 0; i < rows.size(); ++i) order.emplace_back(key({rows[i], values.bytes(rows[i])}), i);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<PathTotals> sorted;
  for (const auto& [value, i] : order) sorted.push_back(rows[i]);
  rows = std::move(sorted);
}

/// Keeps the `top` heaviest rows and, in a tree, their ancestors.
std::vector<PathTotals> keep_heaviest(const TraceTotals& trace, const RowValues& values,
                                      const std::vector<PathTotals>& rows, const ModuleView& view) {
  std::vector<PathTotals> sorted = rows;
  sort_rows(sorted, sort_key(view.sort), values);
  if (sorted.size() > view.top) sorted.resize(view.top);
  std::unordered_set<std::uint32_t> kept;
  for (const PathTotals& row : sorted) {
    kept.insert(row.path);
    for (std::uint32_t up = trace.parent_of(row.path); up != 0 && !view.flat; up = trace.parent_of(up)) {
      kept.insert(up);
    }
  }
  std::vector<PathTotals> out;
  for (const PathTotals& row : rows) {
    if (kept.count(row.path) != 0) out.push_back(row);
  }
  return out;
}

/// Parents before their children; siblings sorted by `key`, or in their original order if it is nullptr.
std::vector<PathTotals> in_tree_order(const TraceTotals& trace, const RowValues& values,
                                      std::vector<PathTotals> rows, ModuleKey key) {
  if (key != nullptr) sort_rows(rows, key, values);
  std::unordered_set<std::uint32_t> present;
  for (const PathTotals& row : rows) present.insert(row.path);
  std::unordered_map<std::uint32_t, std::vector<const PathTotals*>> children;
  for (const PathTotals& row : rows) {
    std::uint32_t parent = trace.parent_of(row.path);
    while (parent != 0 && present.count(parent) == 0) parent = trace.parent_of(parent);
    children[parent].push_back(&row);
  }
  std::vector<PathTotals> out;
  std::vector<const PathTotals*> open(children[0].rbegin(), children[0].rend());
  while (!open.empty()) {
    const PathTotals* const row = open.back();
    open.pop_back();
    out.push_back(*row);
    const auto& below = children[row->path];
    open.insert(open.end(), below.rbegin(), below.rend());
  }
  return out;
}

bool has_work(const PathTotals& row) {
  const auto copied = [](std::uint64_t bytes) { return bytes > 0; };
  return row.kernels > 0 || row.counters.measured + row.counters.unmeasured > 0 ||
         std::any_of(row.memcpy_bytes.begin(), row.memcpy_bytes.end(), copied);
}

}  // namespace

const std::vector<std::string>& module_sort_columns() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const auto& [name, key] : module_keys()) names.push_back(name);
    return names;
  }();
  return kNames;
}

std::vector<PathTotals> select_modules(const TraceTotals& trace, const RowValues& values,
                                       const ModuleView& view) {
  std::vector<PathTotals> rows = trace.rows();
  std::vector<PathTotals> outside;
  for (const PathTotals& row : rows) {
    if (row.path == 0 && has_work(row)) outside.push_back(row);
  }
  std::erase_if(rows, [&](const PathTotals& row) {
    return row.path == 0 || (view.depth != 0 && row.depth > view.depth);
  });
  if (view.top != 0) rows = keep_heaviest(trace, values, rows, view);
  if (view.flat) {
    sort_rows(rows, sort_key(view.sort), values);
  } else {
    rows = in_tree_order(trace, values, std::move(rows), view.sort.empty() ? nullptr : sort_key(view.sort));
  }
  rows.insert(rows.end(), outside.begin(), outside.end());
  return rows;
}

}  // namespace rangefinder
