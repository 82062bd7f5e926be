// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/path_totals.h"

#include <algorithm>

namespace rangefinder {
namespace {

constexpr const char* kDeclaredCategory = "rangefinder.bytes";
constexpr std::uint32_t kNone = UINT32_MAX;

// 0 for the reversed times of a broken trace.
std::uint64_t duration_of(TimeNs start_ns, TimeNs end_ns) noexcept {
  return end_ns > start_ns ? static_cast<std::uint64_t>(end_ns) - static_cast<std::uint64_t>(start_ns) : 0;
}

std::size_t index_of(CopyKind kind) noexcept {
  const auto i = static_cast<std::size_t>(kind);
  return i < kCopyKinds ? i : 0;
}

void add_counters(CounterTotals& totals, const ExactRecord& exact) noexcept {
  if (!exact.measured) {
    ++totals.unmeasured;
    return;
  }
  ++totals.measured;
  totals.dram_read_bytes += exact.dram_read_bytes;
  totals.dram_write_bytes += exact.dram_write_bytes;
  totals.l2_bytes += exact.l2_bytes;
  // Copies have a duration too, but gpu_ns is time of kernels.
  if (exact.kind != WorkKind::kernel && exact.kind != WorkKind::graph) return;
  ++totals.measured_kernels;
  totals.gpu_ns += exact.gpu_ns;
}

void add_execution(KernelTotals& totals, std::uint64_t ns) noexcept {
  totals.total_ns += ns;
  totals.min_ns = totals.timed == 0 ? ns : std::min(totals.min_ns, ns);
  totals.max_ns = std::max(totals.max_ns, ns);
  ++totals.timed;
}

// What a parent's row includes of its child's.
void add_inclusive(PathTotals& parent, const PathTotals& child) noexcept {
  parent.kernels += child.kernels;
  parent.activity_kernels += child.activity_kernels;
  parent.gpu_ns += child.gpu_ns;
  parent.counters += child.counters;
  for (std::size_t i = 0; i < kCopyKinds; ++i) parent.memcpy_bytes[i] += child.memcpy_bytes[i];
}

}  // namespace

CounterTotals& CounterTotals::operator+=(const CounterTotals& other) noexcept {
  measured += other.measured;
  unmeasured += other.unmeasured;
  measured_kernels += other.measured_kernels;
  gpu_ns += other.gpu_ns;
  dram_read_bytes += other.dram_read_bytes;
  dram_write_bytes += other.dram_write_bytes;
  l2_bytes += other.l2_bytes;
  return *this;
}

TotalsBuilder::TotalsBuilder() : nodes_(1) {}

std::uint32_t TotalsBuilder::position(std::uint32_t path) {
  if (path == last_path_) return last_position_;  // also path 0, before anything was looked up
  if (path == 0) return 0;
  auto it = positions_.find(path);
  if (it == positions_.end()) {
    // The node first: should the map find no memory, a node too many is harmless.
    const auto added = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back().own.path = path;
    it = positions_.emplace(path, added).first;
  }
  last_path_ = path;
  last_position_ = it->second;
  return it->second;
}

TotalsBuilder::Node& TotalsBuilder::used_node(std::uint32_t path) {
  Node& node = nodes_[position(path)];
  node.used = true;
  return node;
}

void TotalsBuilder::add_path(const PathRecord& path) {
  if (path.id == 0) return;
  const std::uint32_t parent = path.parent < path.id ? position(path.parent) : 0;
  nodes_[position(path.id)].parent = parent;
}

void TotalsBuilder::add_category(const CategoryRecord& category) {
  if (category.name != kDeclaredCategory) return;
  const std::pair key{category.domain, category.id};
  if (std::find(declared_categories_.begin(), declared_categories_.end(), key) ==
      declared_categories_.end()) {
    declared_categories_.push_back(key);
  }
}

bool TotalsBuilder::add_span(const GpuWork& work) noexcept {
  if (work.start_ns == kNoTime || work.end_ns == kNoTime) return false;
  first_ns_ = any_span_ ? std::min(first_ns_, work.start_ns) : work.start_ns;
  last_ns_ = any_span_ ? std::max(last_ns_, work.end_ns) : work.end_ns;
  any_span_ = true;
  return true;
}

void TotalsBuilder::add(const KernelRecord& kernel) {
  Node& node = used_node(kernel.work.path);
  KernelTotals& totals = kernels_[kernel.name];
  ++node.own.kernels;
  ++totals.count;
  if (!add_span(kernel.work)) return;

  const std::uint64_t ns = duration_of(kernel.work.start_ns, kernel.work.end_ns);
  ++node.own.activity_kernels;
  node.own.gpu_ns += ns;
  add_execution(totals, ns);
  busy_.add(kernel.work.start_ns, kernel.work.end_ns);
  node.busy.add(kernel.work.start_ns, kernel.work.end_ns);
  for (std::uint32_t up = node.parent; up != 0; up = nodes_[up].parent) {
    nodes_[up].busy.add(kernel.work.start_ns, kernel.work.end_ns);
  }
}

void TotalsBuilder::add(const MemcpyRecord& copy) {
  const std::size_t kind = index_of(copy.kind);
  used_node(copy.work.path).own.memcpy_bytes[kind] += copy.bytes;

  const auto key = static_cast<std::uint32_t>(kind) << 16 | static_cast<std::uint32_t>(copy.source) << 8 |
                   static_cast<std::uint32_t>(copy.destination);
  MemcpyTotals& totals = copies_[key];
  totals.kind = copy.kind;
  totals.source = copy.source;
  totals.destination = copy.destination;
  totals.count += copy.count;
  totals.bytes += copy.bytes;
  if (!add_span(copy.work)) return;
  ++totals.timed;
  totals.total_ns += duration_of(copy.work.start_ns, copy.work.end_ns);
}

void TotalsBuilder::add(const MemsetRecord& memset) {
  used_node(memset.work.path);
  add_span(memset.work);
}

void TotalsBuilder::add(const ExactRecord& exact) {
  PathTotals& own = used_node(exact.launch.host.path).own;
  add_counters(own.counters, exact);
  if (exact.kind != WorkKind::kernel && exact.kind != WorkKind::graph) return;

  ++own.kernels;
  if (exact.measured) own.gpu_ns += exact.gpu_ns;
  if (exact.kind == WorkKind::graph) return;  // many kernels, none of them named
  KernelTotals& totals = kernels_[exact.name];
  ++totals.count;
  add_counters(totals.counters, exact);
  if (exact.measured) add_execution(totals, exact.gpu_ns);
}

void TotalsBuilder::add(const RangeRecord& range) {
  if (range.name != 0) return;  // start/end ranges give no path
  PathTotals& own = used_node(range.path).own;
  ++own.calls;
  if (range.end_ns != kNoTime) own.host_ns += duration_of(range.start_ns, range.end_ns);

  const std::pair key{range.domain, range.extras.category};
  const bool declared =
      std::find(declared_categories_.begin(), declared_categories_.end(), key) != declared_categories_.end();
  if (declared && range.extras.payload_type == PayloadType::u64) own.declared_bytes += range.extras.payload;
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

  std::vector<PathTotals> result;
  for (const std::uint32_t i : order) {
    if (used[i]) result.push_back(rows[i]);
  }
  PathTotals& outside = result.emplace_back(nodes_[0].own);
  outside.gpu_ns_exclusive = outside.gpu_ns;
  outside.gpu_busy_ns = nodes_[0].busy.length();
  return result;
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
