// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/path_totals.h"

#include <algorithm>
#include <utility>

#include "profiler/reserve_large.h"
#include "schema/duration.h"

namespace rangefinder {
namespace {

constexpr const char* kDeclaredCategory = "rangefinder.bytes";

std::size_t index_of(CopyKind kind) noexcept {
  const auto i = static_cast<std::size_t>(kind);
  return i < kCopyKinds ? i : 0;
}

bool is_kernel(const ExactRecord& exact) noexcept {
  return exact.kind == WorkKind::kernel || exact.kind == WorkKind::graph;
}

// `launches` launches, of them `kernels` kernels, have or lack the values of this line.
void add_values(CounterTotals& totals, const ExactRecord& exact, std::uint64_t launches,
                std::uint64_t kernels) noexcept {
  if (!exact.measured) {
    totals.unmeasured += launches;
    return;
  }
  totals.measured += launches;
  // Copies have a duration too, but gpu_ns is time of kernels.
  const std::uint64_t gpu_ns = kernels != 0 ? exact.gpu_ns : 0;
  totals.gpu_ns += gpu_ns;
  if (!exact.has_bytes) return;
  totals.with_bytes += launches;
  if (kernels == launches) {
    totals.timed_kernels += kernels;
    totals.timed_dram_bytes += exact.dram_read_bytes + exact.dram_write_bytes;
    totals.timed_l2_bytes += exact.l2_bytes;
    totals.timed_ns += gpu_ns;
  }
  totals.dram_read_bytes += exact.dram_read_bytes;
  totals.dram_write_bytes += exact.dram_write_bytes;
  totals.l2_bytes += exact.l2_bytes;
}

void add_execution(KernelTotals& totals, std::uint64_t ns) noexcept {
  totals.total_ns += ns;
  totals.min_ns = totals.timed == 0 ? ns : std::min(totals.min_ns, ns);
  totals.max_ns = std::max(totals.max_ns, ns);
  ++totals.timed;
}

}  // namespace

TotalsBuilder::TotalsBuilder() {
  reserve_large(nodes_);
  nodes_.emplace_back();
}

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

ExactOrigins::Origin* TotalsBuilder::add_coverage(const GpuWork& work) {
  const std::uint32_t at = position(work.path);
  ExactOrigins::Origin* const origin = origins_.find(work.correlation);
  if (origin == nullptr) {
    ++nodes_[at].own.records_without_exact;
  } else if (work.captured && origin->node != at) {
    ++nodes_[at].own.nodes_launched_elsewhere;
    ++nodes_[origin->node].own.nodes_made_elsewhere;
  }
  return origin;
}

void TotalsBuilder::add(const KernelRecord& kernel) {
  ExactOrigins::Origin* const origin = add_coverage(kernel.work);
  Node& node = used_node(kernel.work.path);
  KernelTotals& totals = kernels_[kernel.name];
  ++node.own.kernels;
  ++totals.count;
  if (!add_span(kernel.work)) return;

  const std::uint64_t ns = duration_ns(kernel.work.start_ns, kernel.work.end_ns);
  ++node.own.timed_kernels;
  node.own.gpu_ns += ns;
  add_execution(totals, ns);
  if (origin != nullptr) {
    CounterTotals& counters = nodes_[origin->node].own.counters;
    counters.recorded_ns += ns;
    if (!std::exchange(origin->has_timed_kernel, true)) ++counters.recorded_kernels;
  }
  add_busy(node, kernel.work);
}

void TotalsBuilder::add_busy(Node& node, const GpuWork& work) {
  busy_.add(work.start_ns, work.end_ns);
  node.busy.add(work.start_ns, work.end_ns);
  for (std::uint32_t up = node.parent; up != 0; up = nodes_[up].parent) {
    nodes_[up].busy.add(work.start_ns, work.end_ns);
  }
}

void TotalsBuilder::add(const MemcpyRecord& copy) {
  truth_.add(copy);
  (void)add_coverage(copy.work);
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
  totals.total_ns += duration_ns(copy.work.start_ns, copy.work.end_ns);
}

void TotalsBuilder::add(const MemsetRecord& memset) {
  used_node(memset.work.path);
  (void)add_coverage(memset.work);
  add_span(memset.work);
}

void TotalsBuilder::add(const GraphRecord& graph) {
  (void)add_coverage(graph.work);
  Node& node = used_node(graph.work.path);
  ++node.own.graphs;
  if (!add_span(graph.work)) return;
  ++node.own.timed_graphs;
  node.own.gpu_ns += duration_ns(graph.work.start_ns, graph.work.end_ns);
  add_busy(node, graph.work);
}

void TotalsBuilder::add_counter_range(const ExactRecord& exact) {
  if (exact.launches == 0) return;
  const std::uint32_t at = position(exact.launch.host.path);
  Node& node = nodes_[at];
  node.used = true;
  add_values(node.own.counters, exact, exact.launches, exact.kernels);
  if (exact.measured && !exact.exclusive) ++node.own.counters.not_exclusive;
  groups_.add(at, exact);
}

void TotalsBuilder::add(const ExactRecord& exact) {
  if (exact.is_counter_range) return add_counter_range(exact);
  const bool alone = !shares_counter_range(exact), kernel = is_kernel(exact);
  const std::uint32_t at = position(exact.launch.host.path);
  origins_.put(exact.launch.correlation, at);
  nodes_[at].used = true;
  CounterTotals& own = nodes_[at].own.counters;
  ++own.launches;
  if (kernel) ++own.kernels;
  if (alone) {
    add_values(own, exact, 1, kernel ? 1 : 0);
    groups_.add(at, exact);
    truth_.add(exact);
  }
  if (exact.kind != WorkKind::kernel) return;  // a graph's kernels are many, and not named here
  CounterTotals& of_name = kernels_[exact.name].counters;
  ++of_name.launches;
  ++of_name.kernels;
  if (alone) add_values(of_name, exact, 1, 1);
}

void TotalsBuilder::add(const RangeRecord& range) {
  if (range.name != 0) return;  // start/end ranges give no path
  PathTotals& own = used_node(range.path).own;
  ++own.calls;
  if (range.end_ns != kNoTime) own.host_ns += duration_ns(range.start_ns, range.end_ns);

  const std::pair key{range.domain, range.extras.category};
  const bool declared =
      std::find(declared_categories_.begin(), declared_categories_.end(), key) != declared_categories_.end();
  if (declared && range.extras.payload_type == PayloadType::u64) own.declared_bytes += range.extras.payload;
}

}  // namespace rangefinder
