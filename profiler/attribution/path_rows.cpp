// SPDX-License-Identifier: Apache-2.0
//
// TotalsBuilder's rows: the tree of paths, parents with the sums of their children, and what
// a row lacks.
#include <algorithm>

#include "profiler/attribution/path_totals.h"

namespace rangefinder {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

// What a parent's row includes of its child's.
void add_inclusive(PathTotals& parent, const PathTotals& child) noexcept {
  parent.kernels += child.kernels;
  parent.timed_kernels += child.timed_kernels;
  parent.graphs += child.graphs;
  parent.timed_graphs += child.timed_graphs;
  parent.gpu_ns += child.gpu_ns;
  parent.counters += child.counters;
  parent.records_without_exact += child.records_without_exact;
  parent.nodes_launched_elsewhere += child.nodes_launched_elsewhere;
  parent.nodes_made_elsewhere += child.nodes_made_elsewhere;
  for (std::size_t i = 0; i < kCopyKinds; ++i) parent.memcpy_bytes[i] += child.memcpy_bytes[i];
}

}  // namespace

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
  // A graph launched here may have all its kernels at other paths.
  return kernels == 0 && (counters.kernels == 0 || nodes_made_elsewhere != 0);
}

// Positions of all paths, each subtree in one piece; without [0].
std::vector<std::uint32_t> TotalsBuilder::parents_first() const {
  // Lists of children by their links. Filled from the back, so that they run forwards.
  std::vector<std::uint32_t> first_child(nodes_.size(), kNone), next_sibling(nodes_.size(), kNone);
  for (auto i = static_cast<std::uint32_t>(nodes_.size()); i-- > 1;) {
    next_sibling[i] = first_child[nodes_[i].parent];
    first_child[nodes_[i].parent] = i;
  }
  std::vector<std::uint32_t> order;
  std::uint32_t at = first_child[0];
  while (at != kNone) {
    order.push_back(at);
    if (first_child[at] != kNone) {
      at = first_child[at];
      continue;
    }
    while (at != 0 && next_sibling[at] == kNone) at = nodes_[at].parent;
    at = at == 0 ? kNone : next_sibling[at];
  }
  return order;
}

std::vector<PathTotals> TotalsBuilder::paths() const {
  const std::vector<std::uint32_t> order = parents_first();
  std::vector<PathTotals> rows(nodes_.size());
  std::vector<bool> used(nodes_.size());
  for (const std::uint32_t i : order) {
    rows[i] = nodes_[i].own;
    rows[i].depth = rows[nodes_[i].parent].depth + 1;  // rows[0].depth stays 0
    rows[i].gpu_ns_exclusive = rows[i].gpu_ns;
    rows[i].gpu_busy_ns = nodes_[i].busy.length();
  }
  for (auto it = order.rbegin(); it != order.rend(); ++it) {  // children first
    const std::uint32_t parent = nodes_[*it].parent;
    if (nodes_[*it].used) used[*it] = true;
    if (parent == 0) continue;
    add_inclusive(rows[parent], rows[*it]);
    if (used[*it]) used[parent] = true;
  }
  rows[0] = nodes_[0].own;
  rows[0].gpu_ns_exclusive = rows[0].gpu_ns;
  rows[0].gpu_busy_ns = nodes_[0].busy.length();
  if (groups_.rotating()) add_rotation(order, rows);

  std::vector<PathTotals> result;
  for (const std::uint32_t i : order) {
    if (used[i]) result.push_back(rows[i]);
  }
  result.push_back(rows[0]);
  return result;
}

}  // namespace rangefinder
