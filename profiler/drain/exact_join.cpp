// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/exact_join.h"

#include <algorithm>

#include "profiler/counters/metrics/metric_sets.h"

namespace rangefinder {
namespace {

std::uint64_t gpu_time_ns(const ExactLaunch& launch, double overhead_ns) noexcept {
  const double cycles = launch.values[kEngineCycles], cycles_per_s = launch.values[kEngineClock];
  if (cycles_per_s <= 0) return 0;
  return static_cast<std::uint64_t>(std::max(cycles / cycles_per_s * 1e9 - overhead_ns, 0.0) + 0.5);
}

}  // namespace

std::optional<MetricSetRecord> ExactJoin::add(const MetricSetRecord& set) {
  MetricSet& known = metric_sets_[set.id];
  known.record = set;
  const auto find = [&](ExactMetric metric) {
    return static_cast<std::size_t>(
        std::find(set.metrics.begin(), set.metrics.end(), kExactMetricNames[metric]) - set.metrics.begin());
  };
  if (std::any_of(set.metrics.begin(), set.metrics.end(), counts_every_multiprocessor))
    known.overhead_ns += kMultiprocessorRangeNs;
  known.dram_read = find(kDramRead);
  known.dram_write = find(kDramWrite);
  known.l2 = find(kL2Bytes);
  known.has_bytes = std::max({known.dram_read, known.dram_write, known.l2}) < set.metrics.size();
  // The plain set of bytes has its own keys in every line, so it needs no metric_set line.
  const bool plain = known.has_bytes && set.metrics.size() == kExactMetrics;
  known.record.id = plain ? 0 : set.id;
  return plain ? std::nullopt : std::optional(set);
}

bool ExactJoin::waits(const ExactLaunch& launch) const {
  return waiting_.empty() ? !is_graph_known(launch) : launch.kind == WorkKind::graph;
}

bool ExactJoin::is_due(std::int64_t since_ns) const {
  return is_graph_known(waiting_.front().launch) || waiting_.front().since_ns < since_ns;
}

ExactLaunch ExactJoin::pop() {
  const ExactLaunch oldest = waiting_.front().launch;
  waiting_.pop_front();
  return oldest;
}

bool ExactJoin::is_graph_known(const ExactLaunch& launch) const {
  if (launch.kind != WorkKind::graph) return true;
  const auto launched = launches_.graph_of(launch.event.correlation);
  return !launched || launched->graph != nullptr || launched->id != 0;
}

void ExactJoin::read_values(const ExactLaunch& launch, ExactRecord& record) const {
  const auto at = metric_sets_.find(metric_set_id(launch.gpu, launch.group));
  record.gpu_ns = gpu_time_ns(launch, at == metric_sets_.end() ? kRangeOverheadNs : at->second.overhead_ns);
  if (at == metric_sets_.end()) return;
  const MetricSet& set = at->second;
  record.has_bytes = set.has_bytes;
  if (set.has_bytes) {
    record.dram_read_bytes = static_cast<std::uint64_t>(launch.values[set.dram_read]);
    record.dram_write_bytes = static_cast<std::uint64_t>(launch.values[set.dram_write]);
    record.l2_bytes = static_cast<std::uint64_t>(launch.values[set.l2]);
  }
  record.metric_set = set.record.id;
  if (record.metric_set != 0) {
    const auto* const first = launch.values.data();
    record.values.assign(first, first + std::min(set.record.metrics.size(), launch.values.size()));
  }
}

ExactRecord ExactJoin::record(const ExactLaunch& launch, const EventDecoder& decoder) {
  ExactRecord record;
  record.launch = decoder.launch(launch.thread, launch.event);
  record.kind = launch.kind;
  record.gpu = launch.gpu;
  if (launch.name != 0) record.name = kernels_.intern(recorder_.names.text(launch.name));
  record.grid = launch.grid;
  record.block = launch.block;
  record.bytes = launch.bytes;
  record.counter_range = launch.counter_range;
  record.is_counter_range = launch.is_counter_range;
  record.launches = launch.launches;
  record.kernels = launch.kernels;
  record.exclusive = launch.exclusive;
  record.measured = launch.outcome == CounterOutcome::measured && !shares_counter_range(record);
  record.reason = counter_outcome_text(launch.outcome);
  if (record.measured) read_values(launch, record);
  return record;
}

std::uint32_t ExactJoin::common_of(std::uint32_t a, std::uint32_t b) const noexcept {
  while (a != b) {  // a parent's id is smaller than its child's
    std::uint32_t& deeper = a > b ? a : b;
    deeper = recorder_.paths.node(deeper).parent;
  }
  return a;
}

std::uint32_t ExactJoin::common_path(std::uint32_t correlation) const {
  const auto launched = launches_.graph_of(correlation);
  if (!launched) return 0;
  const auto graph = launched->graph != nullptr ? launched->graph : recorder_.graphs.graph(launched->id);
  if (graph == nullptr) return 0;
  std::optional<std::uint32_t> common;
  graph->for_each([&](const NodeOrigin& origin) {
    if (!origin.works) return;
    const std::uint32_t path = origin.known ? origin.path : 0;
    common = common ? common_of(*common, path) : path;
  });
  return common.value_or(0);
}

}  // namespace rangefinder
