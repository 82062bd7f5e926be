// SPDX-License-Identifier: Apache-2.0
//
// TotalsBuilder's tables that are not by path: kernels by name, copies by direction.
#include <algorithm>

#include "profiler/attribution/path_totals.h"

namespace rangefinder {

std::vector<KernelTotals> TotalsBuilder::kernels() const {
  std::vector<KernelTotals> rows;
  rows.reserve(kernels_.size());
  for (const auto& [name, totals] : kernels_) rows.emplace_back(totals).name = name;
  std::sort(rows.begin(), rows.end(), [](const KernelTotals& a, const KernelTotals& b) {
    if (a.total_ns != b.total_ns) return a.total_ns > b.total_ns;
    if (a.count != b.count) return a.count > b.count;
    return a.name < b.name;
  });
  return rows;
}

std::vector<MemcpyTotals> TotalsBuilder::copies() const {
  std::vector<MemcpyTotals> rows;
  rows.reserve(copies_.size());
  for (const auto& [key, totals] : copies_) rows.push_back(totals);
  std::sort(rows.begin(), rows.end(), [](const MemcpyTotals& a, const MemcpyTotals& b) {
    if (a.bytes != b.bytes) return a.bytes > b.bytes;
    if (a.kind != b.kind) return a.kind < b.kind;
    if (a.source != b.source) return a.source < b.source;
    return a.destination < b.destination;
  });
  return rows;
}

}  // namespace rangefinder
