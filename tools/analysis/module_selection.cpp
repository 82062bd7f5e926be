// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "tools/analysis/module_table.h"

namespace rangefinder {
namespace {

using SortKey = std::uint64_t (*)(const PathTotals&);

std::uint64_t dram_bytes(const PathTotals& row) {
  return row.counters.dram_read_bytes + row.counters.dram_write_bytes;
}

const std::map<std::string, SortKey>& sort_keys() {
  static const std::map<std::string, SortKey> kKeys{
      {"calls", [](const PathTotals& row) { return row.calls; }},
      {"kernels", [](const PathTotals& row) { return row.kernels; }},
      {"gpu", [](const PathTotals& row) { return row.gpu_ns; }},
      {"self", [](const PathTotals& row) { return row.gpu_ns_exclusive; }},
      {"busy", [](const PathTotals& row) { return row.gpu_busy_ns; }},
      {"host", [](const PathTotals& row) { return row.host_ns; }},
      {"dram", dram_bytes},
      {"read", [](const PathTotals& row) { return row.counters.dram_read_bytes; }},
      {"write", [](const PathTotals& row) { return row.counters.dram_write_bytes; }},
      {"l2", [](const PathTotals& row) { return row.counters.l2_bytes; }},
      {"declared", [](const PathTotals& row) { return row.declared_bytes; }},
  };
  return kKeys;
}

SortKey sort_key(const std::string& name) {
  return sort_keys().at(name.empty() ? "gpu" : name);
}

void sort_rows(std::vector<PathTotals>& rows, SortKey key) {
  std::stable_sort(rows.begin(), rows.end(),
                   [key](const PathTotals& a, const PathTotals& b) { return key(a) > key(b); });
}

/// Keeps the `top` heaviest and, in a tree, what is above them.
std::vector<PathTotals> keep_heaviest(const TraceTotals& trace, const std::vector<PathTotals>& rows,
                                      const ModuleView& view) {
  std::vector<PathTotals> sorted = rows;
  sort_rows(sorted, sort_key(view.sort));
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

/// Parents first, siblings by `key` where there is one, else in the order they come in.
std::vector<PathTotals> in_tree_order(const TraceTotals& trace, std::vector<PathTotals> rows, SortKey key) {
  if (key != nullptr) sort_rows(rows, key);
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
    for (const auto& [name, key] : sort_keys()) names.push_back(name);
    return names;
  }();
  return kNames;
}

std::vector<PathTotals> select_modules(const TraceTotals& trace, const ModuleView& view) {
  std::vector<PathTotals> rows = trace.totals.paths();
  std::vector<PathTotals> outside;
  for (const PathTotals& row : rows) {
    if (row.path == 0 && has_work(row)) outside.push_back(row);
  }
  std::erase_if(rows, [&](const PathTotals& row) {
    return row.path == 0 || (view.depth != 0 && row.depth > view.depth);
  });
  if (view.top != 0) rows = keep_heaviest(trace, rows, view);
  if (view.flat) {
    sort_rows(rows, sort_key(view.sort));
  } else {
    rows = in_tree_order(trace, std::move(rows), view.sort.empty() ? nullptr : sort_key(view.sort));
  }
  rows.insert(rows.end(), outside.begin(), outside.end());
  return rows;
}

}  // namespace rangefinder
