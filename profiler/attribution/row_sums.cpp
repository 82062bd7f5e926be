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

void CounterTotals::add(const ExactRecord& exact, std::uint64_t of_launches,
                        std::uint64_t of_kernels) noexcept {
  if (!exact.measured) {
    unmeasured += of_launches;
    return;
  }
  measured += of_launches;
  // Copies have a duration too, but gpu_ns covers kernels only.
  const std::uint64_t ns = of_kernels != 0 ? exact.gpu_ns : 0;
  gpu_ns += ns;
  if (!exact.has_bytes) return;
  with_bytes += of_launches;
  if (of_kernels == of_launches) {
    timed_kernels += of_kernels;
    timed_dram_bytes += exact.dram_read_bytes + exact.dram_write_bytes;
    timed_l2_bytes += exact.l2_bytes;
    timed_ns += ns;
  }
  dram_read_bytes += exact.dram_read_bytes;
  dram_write_bytes += exact.dram_write_bytes;
  l2_bytes += exact.l2_bytes;
}

void KernelTotals::add_execution(std::uint64_t ns) noexcept {
  total_ns += ns;
  min_ns = timed == 0 ? ns : std::min(min_ns, ns);
  max_ns = std::max(max_ns, ns);
  ++timed;
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

void PathTotals::add_child(const PathTotals& child) noexcept {
  kernels += child.kernels;
  timed_kernels += child.timed_kernels;
  graphs += child.graphs;
  timed_graphs += child.timed_graphs;
  gpu_ns += child.gpu_ns;
  counters += child.counters;
  records_without_exact += child.records_without_exact;
  nodes_launched_elsewhere += child.nodes_launched_elsewhere;
  nodes_made_elsewhere += child.nodes_made_elsewhere;
  for (std::size_t i = 0; i < kCopyKinds; ++i) memcpy_bytes[i] += child.memcpy_bytes[i];
  captured_kernels += child.captured_kernels;
  replays = std::max(replays, child.replays);
  several_graphs = several_graphs || child.several_graphs;
}

void PathTotals::declare_replays() noexcept {
  if (captured_kernels == 0 || declared_bytes == 0) return;
  const bool known = captured_kernels == kernels && !several_graphs;
  declared_bytes = known ? declared_bytes * replays : 0;
}

}  // namespace rangefinder
