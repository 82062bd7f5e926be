// SPDX-License-Identifier: Apache-2.0
//
// Sums within a row of totals.
#include <algorithm>

#include "profiler/attribution/path_totals.h"

namespace rangefinder {

CounterTotals& CounterTotals::operator+=(const CounterTotals& other) noexcept {
  launches += other.launches;
  kernels += other.kernels;
  measured += other.measured;
  unmeasured += other.unmeasured;
  gpu_ns += other.gpu_ns;
  not_exclusive += other.not_exclusive;
  with_bytes += other.with_bytes;
  timed_kernels += other.timed_kernels;
  timed_dram_bytes += other.timed_dram_bytes;
  timed_l2_bytes += other.timed_l2_bytes;
  timed_ns += other.timed_ns;
  recorded_kernels += other.recorded_kernels;
  recorded_ns += other.recorded_ns;
  dram_read_bytes += other.dram_read_bytes;
  dram_write_bytes += other.dram_write_bytes;
  l2_bytes += other.l2_bytes;
  return *this;
}

std::uint64_t PathTotals::launches_without_bytes() const noexcept {
  const std::uint64_t in_windows = counters.launches - std::min(counters.launches, counters.with_bytes);
  return in_windows + records_without_exact + nodes_without_bytes();
}

std::uint64_t PathTotals::nodes_without_bytes() const noexcept {
  return nodes_launched_elsewhere - std::min(nodes_launched_elsewhere, nodes_made_elsewhere);
}

bool PathTotals::has_gpu_time() const noexcept {
  if (timed_kernels != 0 || timed_graphs != 0) return true;
  if (graphs != 0) return false;
  // All kernels of a graph launched here may be at other paths.
  return kernels == 0 && (counters.kernels == 0 || nodes_made_elsewhere != 0);
}

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
