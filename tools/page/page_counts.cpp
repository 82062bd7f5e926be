// SPDX-License-Identifier: Apache-2.0
#include "tools/page/page_counts.h"

#include <algorithm>

namespace rangefinder {

KeptRange kept_range(const RangeRecord& range, TimeNs last_ns) {
  const bool open = range.end_ns == kNoTime;
  const TimeNs end_ns = open ? std::max(last_ns, range.start_ns) : range.end_ns;
  return {range.start_ns, end_ns, range.id, range.thread, range.path, range.name, range.extras.color, open};
}

PageCounts::PageCounts(const Iterations& all, const PageLimits& limits)
    : found(all), ranges(limits.ranges), syncs(limits.syncs), holds(limits.holds) {
  summary.start(found);
  for (const auto& section : {&memory, &iterations}) (*section)->start(found);
}

void PageCounts::add(const SelectedRows& rows) {
  summary.add(rows);
  for (const auto& section : {&kernels, &copies, &memory, &iterations}) (*section)->add(rows);
  rows.lines<NameRecord>([this](const NameRecord& name) { names.emplace(name.id, name.text); });
  rows.lines<HoldRecord>([this](const HoldRecord& hold) { add(hold); });
  rows.lines<MetricSetRecord>([this](const MetricSetRecord& set) { kernel_metrics.add(set); });
  rows.exact([this](const ExactRecord& exact, bool) { kernel_metrics.add(exact); });
  rows.each<SyncRecord>(kColumns, [this](const SyncRecord& sync, bool) { add(sync); });
  rows.work(kColumns, [this](const auto& record, bool) {
    see(record.work);
    if constexpr (requires { breakdown.add(record); }) breakdown.add(record);
  });
  rows.samples([this](const SamplesRecord& line) {
    for (const SampleRun& run : line.runs) see(run.start_ns, run.end_ns);
  });
  rows.ranges(kColumns, [this](const RangeRecord& range, bool) { add(range); });
}

void PageCounts::finish(const EachRows& each) {
  summary.finish(each);
  for (const auto& section : {&kernels, &copies, &memory, &iterations}) (*section)->finish();
}

std::uint32_t PageCounts::api(std::string_view name) {
  const auto at = std::find(apis.begin(), apis.end(), name);
  const auto place = static_cast<std::uint32_t>(at - apis.begin());
  if (at == apis.end()) apis.emplace_back(name);
  return place;
}

void PageCounts::add(const SyncRecord& sync) {
  if (sync.host.end_ns < sync.host.start_ns) return;
  see(sync.host.start_ns, sync.host.end_ns);
  syncs.add({sync.host.start_ns, sync.host.end_ns, sync.host.thread, sync.host.path, api(sync.api)});
}

void PageCounts::add(const HoldRecord& hold) {
  if (hold.end_ns < hold.start_ns) return;
  see(hold.start_ns, hold.end_ns);
  holds.add({hold.start_ns, hold.end_ns, hold.thread, hold.cause});
}

void PageCounts::add(const RangeRecord& range) {
  if (range.start_ns == kNoTime) return;
  see(range.start_ns, range.end_ns);
  ranges.add(kept_range(range, last_ns));
}

void PageCounts::see(const GpuWork& piece) {
  ++streams[stream_of(piece)];
  if (piece.start_ns == kNoTime) return;
  work.add(piece.start_ns);
  see(piece.start_ns, piece.end_ns);
}

void PageCounts::see(TimeNs start, TimeNs end) {
  const bool first = first_ns == 0 && last_ns == 0;
  first_ns = first ? start : std::min(first_ns, start);
  last_ns = std::max({last_ns, start, end});
}

}  // namespace rangefinder
