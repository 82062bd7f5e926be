// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

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
      {"gpu_ns", [](const SortRow& row) { return row.totals.gpu_ns; }},
      {"gpu_ns_exclusive", [](const SortRow& row) { return row.totals.gpu_ns_exclusive; }},
      {"gpu_busy_ns", [](const SortRow& row) { return row.totals.gpu_busy_ns; }},
      {"host_ns", [](const SortRow& row) { return row.totals.host_ns; }},
      {"dram_bytes", [](const SortRow& row) { return row.bytes.dram(); }},
      {"dram_read_bytes", [](const SortRow& row) { return row.bytes.read; }},
      {"dram_write_bytes", [](const SortRow& row) { return row.bytes.write; }},
      {"l2_bytes", [](const SortRow& row) { return row.bytes.l2; }},
      {"declared_bytes", [](const SortRow& row) { return row.totals.declared_bytes; }},
  };
  return kKeys;
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

bool has_work(const PathTotals& row) {
  const auto copied = [](std::uint64_t bytes) { return bytes > 0; };
  return row.kernels > 0 || row.counters.measured + row.counters.unmeasured > 0 ||
         std::any_of(row.memcpy_bytes.begin(), row.memcpy_bytes.end(), copied);
}

std::uint64_t module_weight(const PathTotals& row, const RowValues& values, const std::string& sort) {
  return module_keys().at(sort.empty() ? "gpu_ns" : sort_key(sort))({row, values.bytes(row)});
}

std::vector<PathTotals> select_modules(const TraceTotals& trace, const RowValues& values,
                                       const ModuleView& view) {
  std::vector<PathTotals> all = trace.rows();
  const auto within = [&trace](const std::unordered_set<std::uint32_t>& paths, std::uint32_t path) {
    for (; path != 0; path = trace.parent_of(path)) {
      if (paths.count(path) != 0) return true;
    }
    return false;
  };
  if (!view.folded.empty())
    std::erase_if(all, [&](const PathTotals& row) { return within(view.folded, row.path); });
  if (!view.first.empty()) {
    std::stable_partition(all.begin(), all.end(),
                          [&](const PathTotals& row) { return within(view.first, row.path); });
  }
  std::vector<WeightedRow> rows;  // path 0 is last, so that positions are those of `all`
  for (const PathTotals& row : all) {
    if (row.path != 0) rows.push_back({row.path, row.depth, module_weight(row, values, view.sort)});
  }
  std::vector<PathTotals> out;
  for (const std::size_t i : select_rows(trace, rows, view)) out.push_back(all[i]);
  if (all.back().path == 0 && has_work(all.back())) out.push_back(all.back());
  return out;
}

}  // namespace rangefinder
