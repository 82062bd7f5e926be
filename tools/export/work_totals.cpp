// SPDX-License-Identifier: Apache-2.0
#include "tools/export/work_totals.h"

#include <type_traits>

#include "tools/analysis/model/trace.h"

namespace rangefinder {
namespace {

/// Times of every kind, and what the sums are made of.
constexpr Columns kColumns = Column::work_times | Column::work_place | Column::work_path | Column::work_name |
                             Column::copies | Column::exact | Column::launch_times | Column::range_times |
                             Column::syncs | Column::allocs | Column::events | Column::captures |
                             Column::overheads | Column::samples;

template <typename Record>
void add_work(WorkTotals& out, const Record& record) {
  WorkKey key{record.work.gpu, record.work.path, WorkKind::kernel, 0};
  std::uint64_t count = 1, bytes = 0;
  if constexpr (std::is_same_v<Record, KernelRecord>) {
    key.name = record.name;
  } else if constexpr (std::is_same_v<Record, MemcpyRecord>) {
    key.kind = WorkKind::memcpy;
    key.name = static_cast<std::uint32_t>(record.kind);
    count = record.count;
    bytes = record.bytes;
  } else if constexpr (std::is_same_v<Record, MemsetRecord>) {
    key.kind = WorkKind::memset;
    bytes = record.bytes;
  } else {
    key.kind = WorkKind::graph;
  }
  WorkSum& sum = out.work[key];
  sum.count += count;
  sum.bytes += bytes;
  if (is_timed(record.work)) sum.ns += span_ns(record.work.start_ns, record.work.end_ns);
}

void add_exact(WorkTotals& out, const ExactRecord& exact) {
  if (!exact.measured) return;
  out.metric_sets.insert(exact.metric_set);
  const std::uint32_t launches = exact.is_counter_range ? exact.launches : 1;
  if (!exact.has_bytes || shares_counter_range(exact) || launches == 0) return;
  const WorkKind kind = exact.is_counter_range ? WorkKind::graph : exact.kind;
  ExactSum& sum = out.exact[{exact.gpu, values_path(exact), kind, exact.name}];
  sum.measured += launches;
  sum.dram_read_bytes += exact.dram_read_bytes;
  sum.dram_write_bytes += exact.dram_write_bytes;
  sum.l2_bytes += exact.l2_bytes;
}

/// A line that is no row of a column.
void add_other(WorkTotals& out, const Line& line) {
  std::visit([&out](const auto& record) { out.CoveredTime::add(record); }, line);
  if (const auto* const record = std::get_if<ConditionRecord>(&line)) out.conditions.add(*record);
  if (const auto* const record = std::get_if<StackSampleRecord>(&line)) {
    auto& stacks = out.stack_ns[record->thread];
    for (const StackSample& sample : record->samples) stacks[sample.stack] += record->interval_ns;
  }
}

void add_chunk(WorkTotals& out, const Chunk& chunk) {
  const auto cover = [&out](const auto& record) { out.CoveredTime::add(record); };
  for (const Chunk::OtherLine& other : chunk.others) add_other(out, other.line);
  for (const auto& [line, samples] : chunk.samples) cover(samples);
  if (chunk.counts.last_mark_ns != kNoTime) out.CoveredTime::add(kNoTime, chunk.counts.last_mark_ns);
  chunk.work(kColumns, [&](const auto& record) {
    cover(record);
    add_work(out, record);
  });
  chunk.exact([&out](const ExactRecord& exact) { add_exact(out, exact); });
  chunk.launches(Column::launch_times, cover);
  chunk.ranges(Column::range_times, cover);
  chunk.each<SyncRecord>(Column::syncs, cover);
  chunk.each<AllocRecord>(Column::allocs, cover);
  chunk.each<EventRecord>(Column::events, cover);
  chunk.each<CaptureRecord>(Column::captures, cover);
  chunk.each<OverheadRecord>(Column::overheads, cover);
}

}  // namespace

WorkTotals load_work(const TraceFolder& files) {
  Trace trace(files, {kColumns, SampledTrace::kColumns, {}, Keep::if_sampled, {}});
  WorkTotals out;
  bool samples = false;
  trace.each_chunk([&](const Chunk& chunk) {
    samples = samples || chunk.counts.samples != 0;
    add_chunk(out, chunk);
  });
  static_cast<TraceNames&>(out) = trace.names();
  if (!samples || !out.exact.empty()) return out;
  if (const auto sampled = SampledTrace::load(trace)) out.sampled = sampled->totals();
  return out;
}

}  // namespace rangefinder
