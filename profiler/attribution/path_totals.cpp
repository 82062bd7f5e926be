// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/path_totals.h"

#include <algorithm>
#include <utility>

#include "profiler/base/duration.h"
#include "profiler/guest/reserve_large.h"

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

constexpr std::uint32_t kNone = UINT32_MAX;

// Whether GPU times differ between sets, over the sets that measured all groups of the path.
bool differs(const double* ns, std::size_t sets, std::uint64_t missing, const std::vector<bool>& used) {
  double lowest = 0, highest = 0;
  bool any = false;
  for (std::size_t i = 0; i < sets; ++i) {
    if (!used[i] || (missing >> i & 1) != 0) continue;
    lowest = any ? std::min(lowest, ns[i]) : ns[i];
    highest = std::max(highest, ns[i]);
    any = true;
  }
  return any && highest > lowest * (1 + kUnstable);
}

}  // namespace

TotalsBuilder::TotalsBuilder() {
  reserve_large(nodes_);
  nodes_.emplace_back();
}

std::uint32_t TotalsBuilder::position(std::uint32_t path) {
  if (path == last_path_) return last_position_;  // also path 0, before the first lookup
  if (path == 0) return 0;
  auto it = positions_.find(path);
  if (it == positions_.end()) {
    // The node first: if the map then throws, an extra node is harmless.
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

TotalsBuilder::Coverage TotalsBuilder::add_coverage(const GpuWork& work, std::uint32_t at) {
  if (ExactOrigins::Origin* const origin = origins_.find(work.correlation)) {
    if (work.graph_node != 0 && origin->node != at) {
      ++nodes_[at].own.nodes_launched_elsewhere;
      ++nodes_[origin->node].own.nodes_made_elsewhere;
    }
    return {origin, nullptr};
  }
  if (expects_exact_ && work.graph != 0) {
    const auto drop = [this](const ExactOrigins::Held& held) {
      for (const auto& records : held.records)
        nodes_[records.node].own.records_without_exact += records.count;
    };
    return {nullptr, &origins_.hold(work.correlation, at, drop)};
  }
  ++nodes_[at].own.records_without_exact;
  return {};
}

void TotalsBuilder::add_held(const ExactOrigins::Held& held, std::uint32_t at) {
  for (const auto& records : held.records) {
    if (records.node == at) continue;
    nodes_[records.node].own.nodes_launched_elsewhere += records.count;
    nodes_[at].own.nodes_made_elsewhere += records.count;
  }
  CounterTotals& counters = nodes_[at].own.counters;
  counters.recorded_ns += held.kernels_ns;
  if (held.timed_kernels == 0) return;
  ++counters.recorded_kernels;
}

void TotalsBuilder::add(const KernelRecord& kernel) {
  const std::uint32_t at = position(kernel.work.path);
  const Coverage coverage = add_coverage(kernel.work, at);
  Node& node = nodes_[at];
  node.used = true;
  KernelTotals& totals = kernels_[kernel.name];
  ++node.own.kernels;
  if (kernel.work.captured) add_captured(node, kernel.work);
  ++totals.count;
  const std::optional<std::uint64_t> ns = add_time(kernel.work, at);
  if (!ns) return;
  ++node.own.timed_kernels;
  totals.add_execution(*ns);
  if (coverage.held != nullptr) {
    ++coverage.held->timed_kernels;
    coverage.held->kernels_ns += *ns;
  }
  if (coverage.origin != nullptr) {
    CounterTotals& counters = nodes_[coverage.origin->node].own.counters;
    counters.recorded_ns += *ns;
    if (!std::exchange(coverage.origin->has_timed_kernel, true)) ++counters.recorded_kernels;
  }
}

void TotalsBuilder::add_captured(Node& node, const GpuWork& work) {
  ++node.own.captured_kernels;
  node.own.several_graphs = node.own.several_graphs || (node.graph != 0 && node.graph != work.graph);
  if (node.graph_launch != work.correlation) ++node.own.replays;
  node.graph = work.graph;
  node.graph_launch = work.correlation;
}

void TotalsBuilder::pass(const GpuWork& work) {
  if (!is_timed(work)) return;
  order_.add({work.start_ns, work.end_ns, position(work.path), false},
             [this](const BusyWork& next) { put_busy(busy_, next); });
}

void TotalsBuilder::put_busy(Busy& busy, const BusyWork& work) const {
  if (busy.paths.size() < nodes_.size()) busy.paths.resize(nodes_.size());
  busy.all.add(work.at_ns, work.end_ns, work.counts);
  std::uint32_t at = work.key;
  do {
    busy.paths[at].add(work.at_ns, work.end_ns, work.counts);
    at = nodes_[at].parent;
  } while (at != 0);
}

TotalsBuilder::Busy TotalsBuilder::busy() const {
  Busy busy = busy_;
  busy.paths.resize(nodes_.size());
  order_.each_held([&](const BusyWork& next) { put_busy(busy, next); });
  return busy;
}

std::uint64_t TotalsBuilder::gpu_busy_ns() const {
  return busy().all.length();
}

MemcpyTotals& TotalsBuilder::totals_of(const MemcpyRecord& copy) {
  const auto kind = static_cast<std::uint32_t>(index_of(copy.kind));
  MemcpyTotals& totals = copies_[kind << 16 | static_cast<std::uint32_t>(copy.source) << 8 |
                                 static_cast<std::uint32_t>(copy.destination)];
  totals.kind = copy.kind;
  totals.source = copy.source;
  totals.destination = copy.destination;
  return totals;
}

void TotalsBuilder::add(const MemcpyRecord& copy) {
  truth_.add(copy);
  (void)add_coverage(copy.work, position(copy.work.path));
  used_node(copy.work.path).own.memcpy_bytes[index_of(copy.kind)] += copy.bytes;
  MemcpyTotals& totals = totals_of(copy);
  totals.count += copy.count;
  totals.bytes += copy.bytes;
  if (!add_span(copy.work)) return;
  ++totals.timed;
  totals.total_ns += duration_ns(copy.work.start_ns, copy.work.end_ns);
}

void TotalsBuilder::add(const MemsetRecord& memset) {
  used_node(memset.work.path);
  (void)add_coverage(memset.work, position(memset.work.path));
  add_span(memset.work);
}

void TotalsBuilder::add(const GraphRecord& graph) {
  const std::uint32_t at = position(graph.work.path);
  (void)add_coverage(graph.work, at);
  ++nodes_[at].own.graphs;
  if (add_time(graph.work, at)) ++nodes_[at].own.timed_graphs;
}

std::optional<std::uint64_t> TotalsBuilder::add_time(const GpuWork& work, std::uint32_t at) {
  nodes_[at].used = true;
  if (!add_span(work)) return std::nullopt;
  const std::uint64_t ns = duration_ns(work.start_ns, work.end_ns);
  nodes_[at].own.gpu_ns += ns;
  order_.add({work.start_ns, work.end_ns, at}, [this](const BusyWork& next) { put_busy(busy_, next); });
  return ns;
}

void TotalsBuilder::add_rest(const KernelRecord& kernel) {
  kernels_[kernel.name].total_ns += add_time(kernel.work, position(kernel.work.path)).value_or(0);
}

void TotalsBuilder::add_rest(const GraphRecord& graph) {
  add_time(graph.work, position(graph.work.path));
}

void TotalsBuilder::add_rest(const MemcpyRecord& copy) {
  used_node(copy.work.path);
  if (add_span(copy.work)) totals_of(copy).total_ns += duration_ns(copy.work.start_ns, copy.work.end_ns);
}

void TotalsBuilder::add_rest(const RangeRecord& range) {
  if (range.name != 0 || range.end_ns == kNoTime) return;
  used_node(range.path).own.host_ns += holds_.net_ns(range.thread, range.start_ns, range.end_ns);
}

void TotalsBuilder::add_counter_range(const ExactRecord& exact) {
  if (exact.launches == 0) return;
  const std::uint32_t at = position(exact.launch.host.path);
  Node& node = nodes_[at];
  node.used = true;
  node.own.counters.add(exact, exact.launches, exact.kernels);
  if (exact.measured && !exact.exclusive) ++node.own.counters.not_exclusive;
  groups_.add(at, exact);
}

void TotalsBuilder::add(const ExactRecord& exact) {
  if (exact.is_counter_range) return add_counter_range(exact);
  const bool alone = !shares_counter_range(exact), kernel = is_kernel(exact);
  const std::uint32_t at = position(values_path(exact));
  origins_.put(exact.launch.correlation, at);
  if (exact.kind == WorkKind::graph) {
    if (const auto held = origins_.take(exact.launch.correlation)) {
      add_held(*held, at);
      origins_.find(exact.launch.correlation)->has_timed_kernel = held->timed_kernels != 0;
    }
  }
  nodes_[at].used = true;
  CounterTotals& own = nodes_[at].own.counters;
  ++own.launches;
  if (kernel) ++own.kernels;
  if (alone) {
    own.add(exact, 1, kernel ? 1 : 0);
    groups_.add(at, exact);
    truth_.add(exact);
  }
  if (exact.kind != WorkKind::kernel) return;  // a graph has many kernels, which this line does not name
  CounterTotals& of_name = kernels_[exact.name].counters;
  ++of_name.launches;
  ++of_name.kernels;
  if (alone) of_name.add(exact, 1, 1);
}

void TotalsBuilder::add(const RangeRecord& range) {
  if (range.name != 0) return;  // start/end ranges have no path
  PathTotals& own = used_node(range.path).own;
  ++own.calls;
  if (range.end_ns != kNoTime) own.host_ns += holds_.net_ns(range.thread, range.start_ns, range.end_ns);

  const std::pair key{range.domain, range.extras.category};
  const bool declared =
      std::find(declared_categories_.begin(), declared_categories_.end(), key) != declared_categories_.end();
  if (declared && range.extras.payload_type == PayloadType::u64) own.declared_bytes += range.extras.payload;
}

// Positions of all paths except [0], parents first, each subtree contiguous.
std::vector<std::uint32_t> TotalsBuilder::parents_first() const {
  // Linked lists of children. Filled from the back, so that they are in order.
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
  const Busy busy = this->busy();
  std::vector<PathTotals> rows(nodes_.size());
  std::vector<bool> used(nodes_.size());
  std::vector<std::uint64_t> held(nodes_.size());  // records whose exact line has not come
  for (const auto& [correlation, launch] : origins_.held()) {
    for (const auto& records : launch.records) held[records.node] += records.count;
  }
  const auto begin_row = [&](std::uint32_t i) {
    rows[i] = nodes_[i].own;
    rows[i].records_without_exact += held[i];
    rows[i].gpu_ns_exclusive = rows[i].gpu_ns;
    rows[i].gpu_busy_ns = busy.paths[i].length();
  };
  begin_row(0);
  for (const std::uint32_t i : order) {
    begin_row(i);
    rows[i].depth = rows[nodes_[i].parent].depth + 1;  // rows[0].depth stays 0
  }
  for (auto it = order.rbegin(); it != order.rend(); ++it) {  // children first
    const std::uint32_t parent = nodes_[*it].parent;
    if (nodes_[*it].used) used[*it] = true;
    if (parent != 0) rows[parent].add_child(rows[*it]);
    rows[*it].declare_replays();
    if (used[*it]) used[parent] = true;
  }
  if (groups_.rotating()) add_rotation(order, rows);

  std::vector<PathTotals> result;
  result.reserve(static_cast<std::size_t>(std::count(used.begin(), used.end(), true)) + 1);
  for (const std::uint32_t i : order) {
    if (used[i]) result.push_back(rows[i]);
  }
  result.push_back(rows[0]);
  return result;
}

// `order`: parents first, without [0]. rows[0]: launched outside any range.
void TotalsBuilder::add_rotation(const std::vector<std::uint32_t>& order,
                                 std::vector<PathTotals>& rows) const {
  const std::size_t sets = groups_.sets().size();
  std::vector<BytesEstimate> estimates = groups_.estimates(nodes_.size());
  MetricGroups::SetTimes times = groups_.set_times(nodes_.size());
  for (auto it = order.rbegin(); it != order.rend(); ++it) {  // children first
    const std::uint32_t parent = nodes_[*it].parent;
    if (parent == 0) continue;
    estimates[parent] += estimates[*it];
    times.missing[parent] |= times.missing[*it];
    for (std::size_t set = 0; set < sets; ++set) {
      times.ns[parent * sets + set] += times.ns[*it * sets + set];
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    PathTotals& row = rows[i];
    if (row.counters.launches == 0) continue;
    row.estimate = estimates[i];
    // Work outside exact windows is in no group.
    row.estimate.complete &= row.records_without_exact + row.nodes_without_bytes() == 0;
    row.has_estimate = row.counters.with_bytes < row.counters.launches;
    row.missing_sets = times.missing[i];
    row.unstable = differs(times.ns.data() + i * sets, sets, times.missing[i], groups_.used_sets());
  }
}

std::unordered_map<std::uint32_t, std::vector<MetricValue>> TotalsBuilder::path_metrics() const {
  std::unordered_map<std::uint32_t, std::vector<MetricValue>> out;
  if (!groups_.any_metrics()) return out;
  std::vector<std::vector<MetricValue>> metrics = groups_.metrics(nodes_.size());
  const std::vector<std::uint32_t> order = parents_first();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const std::uint32_t parent = nodes_[*it].parent;
    if (parent != 0) groups_.merge(metrics[parent], metrics[*it]);
    // Complete: all its children have been merged.
    if (!metrics[*it].empty()) out.emplace(nodes_[*it].own.path, std::move(metrics[*it]));
    metrics[*it] = {};
  }
  if (!metrics[0].empty()) out.emplace(0, std::move(metrics[0]));
  return out;
}

void TotalsBuilder::add_estimates(std::vector<KernelTotals>& kernels) const {
  const auto estimates = groups_.kernel_estimates();
  for (KernelTotals& kernel : kernels) {
    const auto of = estimates.find(kernel.name);
    if (of == estimates.end() || kernel.launches_without_bytes() == 0) continue;
    kernel.estimate = of->second.bytes;
    // Launches that share a range, or lie outside of exact windows, are in no group.
    kernel.estimate->complete &= of->second.launches >= kernel.count;
  }
}

std::vector<KernelTotals> TotalsBuilder::kernels() const {
  std::vector<KernelTotals> rows;
  rows.reserve(kernels_.size());
  for (const auto& [name, totals] : kernels_) rows.emplace_back(totals).name = name;
  if (groups_.rotating()) add_estimates(rows);
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
