// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/metric_groups.h"

#include <algorithm>
#include <cmath>

namespace rangefinder {
namespace {

constexpr std::uint32_t kRangeKind = 4;

// Corrects the spread of a small sample: Student's t over 2, for 95 %.
double small_sample_factor(std::uint64_t n) noexcept {
  constexpr std::array kHalfT{6.35, 2.15, 1.59, 1.39, 1.285, 1.22, 1.18, 1.15, 1.13};  // by n - 2
  if (n < 2) return 1;
  return n - 2 < kHalfT.size() ? kHalfT[n - 2] : 1 + 1 / static_cast<double>(n - 1);
}

// Squared standard error of a sum over `launches`, of which `seen` were measured. Twice its root is the
// bound for 95 %. A single measurement has no spread; the value itself is used instead.
double sum_variance(const Spread& seen, double launches) noexcept {
  const auto n = static_cast<double>(seen.n);
  if (n >= launches) return 0;
  const double variance = seen.n < 2 ? seen.mean * seen.mean : seen.squares / (n - 1);
  const double factor = small_sample_factor(seen.n);
  return launches * launches * variance * factor * factor / n * (1 - n / launches);
}

}  // namespace

void Spread::add(double value) noexcept {
  ++n;
  const double distance = value - mean;
  mean += distance / static_cast<double>(n);
  squares += distance * (value - mean);
}

void Spread::add(const Spread& other) noexcept {
  if (other.n == 0) return;
  const auto a = static_cast<double>(n), b = static_cast<double>(other.n);
  const double distance = other.mean - mean;
  n += other.n;
  mean += distance * b / (a + b);
  squares += other.squares + distance * distance * a * b / (a + b);
}

double Spread::deviation() const noexcept {
  return n < 2 ? 0 : std::sqrt(squares / static_cast<double>(n - 1));
}

BytesEstimate& BytesEstimate::operator+=(const BytesEstimate& other) noexcept {
  complete &= other.complete;
  read += other.read;
  write += other.write;
  l2 += other.l2;
  read_variance += other.read_variance;
  write_variance += other.write_variance;
  l2_variance += other.l2_variance;
  return *this;
}

std::size_t MetricGroups::Hash::operator()(const Key& key) const noexcept {
  std::uint64_t hash = 0;
  for (const std::uint32_t part : {key.node, key.name, key.kind, key.grid.x, key.grid.y, key.grid.z,
                                   key.block.x, key.block.y, key.block.z}) {
    hash = (hash ^ part) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 29;
  }
  return hash;
}

std::uint32_t MetricGroups::set_position(std::uint32_t id) {
  const auto same = [id](const MetricSetRecord& set) { return set.id == id; };
  const auto known = std::find_if(sets_.begin(), sets_.end(), same);
  if (known != sets_.end()) return static_cast<std::uint32_t>(known - sets_.begin());
  if (sets_.size() == kMaxSets) return kMaxSets;
  set_used_.push_back(false);
  sets_.push_back({id, id == 0 ? "bytes" : "(unknown)", {}});
  return static_cast<std::uint32_t>(sets_.size() - 1);
}

void MetricGroups::add_set(const MetricSetRecord& set) {
  const std::uint32_t at = set_position(set.id);
  if (at < kMaxSets && sets_[at].metrics.empty()) sets_[at] = set;
}

MetricGroups::Group* MetricGroups::group_of(std::uint32_t node, const ExactRecord& exact) {
  Key key{node, exact.name, static_cast<std::uint32_t>(exact.kind), exact.grid, exact.block};
  if (exact.is_counter_range) key = {node, 0, kRangeKind, {}, {}};
  const auto known = positions_.find(key);
  if (known != positions_.end()) return &groups_[known->second];
  if (groups_.size() >= kMaxGroups || cells_ >= kMaxCells) return nullptr;
  Group& added = groups_.emplace_back();
  added.node = node;
  if (!exact.is_counter_range && exact.kind == WorkKind::kernel) added.kernel = exact.name;
  added.is_copy =
      !exact.is_counter_range && (exact.kind == WorkKind::memcpy || exact.kind == WorkKind::memset);
  positions_.emplace(key, static_cast<std::uint32_t>(groups_.size() - 1));
  return &added;
}

void MetricGroups::add_values(Group& group, const ExactRecord& exact) {
  const std::uint32_t set = set_position(exact.metric_set);
  if (set < kMaxSets && !set_used_[set]) {
    set_used_[set] = true;
    ++used_sets_;
  }
  if (exact.has_bytes) {
    group.bytes[0].add(static_cast<double>(exact.dram_read_bytes));
    group.bytes[1].add(static_cast<double>(exact.dram_write_bytes));
    group.bytes[2].add(static_cast<double>(exact.l2_bytes));
  }
  // Metrics are of kernels. Copies have bytes, but do not run on the multiprocessors.
  if (set == kMaxSets || group.is_copy) return;
  auto at = std::find_if(group.sets.begin(), group.sets.end(), [set](const auto& s) { return s.set == set; });
  if (at == group.sets.end()) {
    at = group.sets.insert(group.sets.end(), SetStatistics{set, {}, {}});
    if (cells_ + sets_[set].metrics.size() <= kMaxCells) at->metrics.resize(sets_[set].metrics.size());
    cells_ += at->metrics.size();
  }
  at->gpu_ns.add(has_gpu_time(exact) ? static_cast<double>(exact.gpu_ns) : 0);
  for (std::size_t i = 0; i < std::min(at->metrics.size(), exact.values.size()); ++i) {
    if (std::isfinite(exact.values[i])) at->metrics[i].add(exact.values[i]);
  }
}

void MetricGroups::add(std::uint32_t node, const ExactRecord& exact) {
  Group* const group = group_of(node, exact);
  if (group == nullptr) {
    if (node >= folded_nodes_.size()) folded_nodes_.resize(std::size_t{node} + 1);
    ++folded_nodes_[node];
    ++folded_;
    return;
  }
  ++group->launches;
  if (exact.measured) add_values(*group, exact);
}

BytesEstimate MetricGroups::Group::estimate() const noexcept {
  const auto& [read, write, l2] = bytes;
  const auto all = static_cast<double>(launches);
  BytesEstimate out{read.n != 0, read.mean * all, write.mean * all, l2.mean * all, 0, 0, 0};
  if (!out.complete) return out;
  out.read_variance = sum_variance(read, all);
  out.write_variance = sum_variance(write, all);
  out.l2_variance = sum_variance(l2, all);
  return out;
}

std::unordered_map<std::uint32_t, MetricGroups::KernelEstimate> MetricGroups::kernel_estimates() const {
  std::unordered_map<std::uint32_t, KernelEstimate> out;
  for (const Group& group : groups_) {
    if (group.kernel == 0) continue;
    KernelEstimate& of = out[group.kernel];
    of.bytes += group.estimate();
    of.launches += group.launches;
  }
  return out;
}

std::vector<BytesEstimate> MetricGroups::estimates(std::size_t nodes) const {
  std::vector<BytesEstimate> out(nodes);
  for (const Group& group : groups_) out[group.node] += group.estimate();
  for (std::size_t node = 0; node < std::min(nodes, folded_nodes_.size()); ++node) {
    out[node].complete &= folded_nodes_[node] == 0;
  }
  return out;
}

MetricGroups::SetTimes MetricGroups::set_times(std::size_t nodes) const {
  SetTimes out;
  out.ns.resize(nodes * sets_.size());
  out.missing.resize(nodes);
  for (const Group& group : groups_) {
    if (group.is_copy) continue;
    std::uint64_t missing = 0;
    for (std::size_t i = 0; i < sets_.size(); ++i) missing |= set_used_[i] ? std::uint64_t{1} << i : 0;
    for (const SetStatistics& set : group.sets) {
      missing &= ~(std::uint64_t{1} << set.set);
      out.ns[group.node * sets_.size() + set.set] += set.gpu_ns.mean * static_cast<double>(group.launches);
    }
    out.missing[group.node] |= missing;
  }
  return out;
}

void MetricGroups::merge(std::vector<MetricValue>& into, const std::vector<MetricValue>& other) const {
  for (const MetricValue& added : other) {
    const auto same = [&added](const MetricValue& value) {
      return value.set == added.set && value.metric == added.metric;
    };
    const auto at = std::find_if(into.begin(), into.end(), same);
    if (at == into.end()) {
      into.push_back(added);
      continue;
    }
    at->launches.add(added.launches);
    const double gpu_ns = at->gpu_ns + added.gpu_ns;
    if (metric_adds_up(metric_name(added))) {
      at->value += added.value;
    } else if (gpu_ns > 0) {
      at->value = (at->value * at->gpu_ns + added.value * added.gpu_ns) / gpu_ns;
    }
    at->gpu_ns = gpu_ns;
  }
}

std::vector<std::vector<MetricValue>> MetricGroups::metrics(std::size_t nodes) const {
  std::vector<std::vector<MetricValue>> out(nodes);
  std::vector<MetricValue> own;
  for (const Group& group : groups_) {
    const auto launches = static_cast<double>(group.launches);
    for (const SetStatistics& set : group.sets) {
      own.clear();
      for (std::uint32_t i = 0; i < set.metrics.size(); ++i) {
        const Spread& seen = set.metrics[i];
        if (seen.n == 0) continue;
        const bool adds_up = metric_adds_up(sets_[set.set].metrics[i]);
        const double value = adds_up ? seen.mean * launches : seen.mean;
        own.push_back({set.set, i, seen, value, set.gpu_ns.mean * launches});
      }
      merge(out[group.node], own);
    }
  }
  return out;
}

}  // namespace rangefinder
