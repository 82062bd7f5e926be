// SPDX-License-Identifier: Apache-2.0
#include "tools/page/page_counts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "tools/analysis/queries/table_sections.h"

namespace rangefinder {

KeptRange kept_range(const RangeRecord& range, TimeNs last_ns) {
  KeptRange out;
  out.start_ns = range.start_ns;
  out.open = range.end_ns == kNoTime;
  out.end_ns = out.open ? std::max(last_ns, range.start_ns) : range.end_ns;
  out.id = range.id;
  out.thread = range.thread;
  out.path = range.path;
  out.name = range.name;
  out.color = range.extras.color;
  return out;
}

PageCounts::PageCounts(Iterations found, const PageLimits& limits)
    : iterations(std::move(found), limits.iterations),
      ranges(limits.ranges),
      syncs(limits.syncs),
      holds(limits.holds),
      kernels_(make_kernels_section({})) {}

void PageCounts::line(const Line& line) {
  kernels_->line(line);
  kernel_metrics.line(line);
  rules.line(line);
  std::visit([this](const auto& record) { take(record); }, line);
}

nlohmann::ordered_json PageCounts::kernel_rows(const SectionInput& input) {
  return kernels_->json(input)["kernels"];
}

std::uint32_t PageCounts::api(std::string_view name) {
  const auto at = std::find(apis.begin(), apis.end(), name);
  const auto place = static_cast<std::uint32_t>(at - apis.begin());
  if (at == apis.end()) apis.emplace_back(name);
  return place;
}

void PageCounts::take(const KernelRecord& kernel) {
  see(kernel.work);
  breakdown.add(kernel);
  iterations.add(kernel);
}

void PageCounts::take(const MemcpyRecord& copy) {
  see(copy.work);
  breakdown.add(copy);
  iterations.add(copy);
}

void PageCounts::take(const MemsetRecord& memset) {
  see(memset.work);
  iterations.add(memset);
}

void PageCounts::take(const GraphRecord& graph) {
  see(graph.work);
  iterations.add(graph);
}

void PageCounts::take(const SyncRecord& sync) {
  iterations.add(sync);
  if (sync.host.end_ns < sync.host.start_ns) return;
  see(sync.host.start_ns, sync.host.end_ns);
  syncs.add({sync.host.start_ns, sync.host.end_ns, sync.host.thread, sync.host.path, api(sync.api)});
}

void PageCounts::take(const HoldRecord& hold) {
  iterations.add(hold);
  if (hold.end_ns < hold.start_ns) return;
  see(hold.start_ns, hold.end_ns);
  holds.add({hold.start_ns, hold.end_ns, hold.thread, hold.cause});
}

void PageCounts::take(const RangeRecord& range) {
  if (range.start_ns == kNoTime) return;
  see(range.start_ns, range.end_ns);
  range_threads.insert(range.thread);
  ranges.add(kept_range(range, last_ns));
}

void PageCounts::take(const SamplesRecord& samples_line) {
  for (const SampleRun& run : samples_line.runs) {
    samples += run.count;
    see(run.start_ns, run.end_ns);
  }
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
