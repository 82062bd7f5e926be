// SPDX-License-Identifier: Apache-2.0
//
// TraceBuilder: launches and ranges with hardware counters, from the values of a metric set to records.
#include <algorithm>

#include "profiler/drain/trace_builder.h"

namespace rangefinder {
namespace {

std::uint64_t gpu_time_ns(const ExactLaunch& launch) noexcept {
  const double cycles = launch.values[kEngineCycles], cycles_per_s = launch.values[kEngineClock];
  if (cycles_per_s <= 0) return 0;
  return static_cast<std::uint64_t>(std::max(cycles / cycles_per_s * 1e9 - kRangeOverheadNs, 0.0) + 0.5);
}

}  // namespace

void TraceBuilder::on_metric_set(const MetricSetRecord& set) {
  MetricSet& known = metric_sets_[set.id];
  known.record = set;
  const auto find = [&](ExactMetric metric) {
    return static_cast<std::size_t>(
        std::find(set.metrics.begin(), set.metrics.end(), kExactMetricNames[metric]) - set.metrics.begin());
  };
  known.dram_read = find(kDramRead);
  known.dram_write = find(kDramWrite);
  known.l2 = find(kL2Bytes);
  known.has_bytes = std::max({known.dram_read, known.dram_write, known.l2}) < set.metrics.size();
  // The plain set of bytes has its own keys in every line, so it needs no metric_set line.
  const bool plain = known.has_bytes && set.metrics.size() == kExactMetrics;
  known.record.id = plain ? 0 : set.id;
  if (!plain) writer_.add_metric_set(set);
}

void TraceBuilder::read_values(const ExactLaunch& launch, ExactRecord& record) const {
  record.gpu_ns = gpu_time_ns(launch);
  const auto at = metric_sets_.find(metric_set_id(launch.gpu, launch.group));
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

void TraceBuilder::on_exact(const ExactLaunch& launch) {
  if (launch.event.launch.result != 0) {  // the call failed: no launch, no measurement
    writer_.write(launch_of(launch.thread, launch.event));
    return;
  }
  ExactRecord record;
  record.launch = launch_of(launch.thread, launch.event);
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
  add_path(record.launch.host.path);
  // Put the launch into the table before its line is written: bad_alloc may lose a line, but no line may be
  // without its launch.
  if (!record.is_counter_range) {  // the launches of a range have lines of their own
    const bool is_copy = launch.kind == WorkKind::memcpy || launch.kind == WorkKind::memset;
    const bool expect_record = !(is_copy && launch.bytes == 0);  // a copy of 0 bytes has no record
    note_launch(launch.event.correlation);
    const LaunchOrigin origin{launch.event.path, launch.event.range, launch.event.launch.kernel};
    launches_.put_exact(launch.event.correlation, launch.kind, origin, expect_record);
  }
  writer_.write(record);
  totals_.add(record);
}

}  // namespace rangefinder
