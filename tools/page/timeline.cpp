// SPDX-License-Identifier: Apache-2.0
#include "tools/page/timeline.h"

#include <algorithm>

namespace rangefinder {
namespace {

constexpr std::size_t kMaxMarks = 4'000;

std::vector<StreamKey> busiest(const std::map<StreamKey, std::uint64_t>& streams, std::size_t limit) {
  std::vector<std::pair<StreamKey, std::uint64_t>> order(streams.begin(), streams.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (order.size() > limit) order.resize(limit);
  std::vector<StreamKey> out;
  for (const auto& [key, count] : order) out.push_back(key);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

Timeline::Timeline(const TraceNames& names, PageCounts& counts, const PageLimits& limits)
    : detail(choose_windows(counts.work, counts.found.instances, counts.summary.median_iteration(),
                            limits.work)),
      lanes(busiest(counts.streams, limits.streams)),
      others(lanes.size() < counts.streams.size()),
      busy(lanes.size() + 1, limits.bins, counts.first_ns, counts.last_ns),
      ranges(counts.ranges.extract()),
      syncs(counts.syncs.extract()),
      holds(counts.holds.extract()),
      idle(limits.idle),
      memory(limits.memory_points),
      names_(names),
      counts_(counts),
      limits_(limits),
      idle_causes_(counts.found),
      spans_(ranges, names) {
  for (KeptRange& range : ranges) {
    if (range.open) range.end_ns = std::max(counts.last_ns, range.start_ns);
    kept_ranges_.insert(range.id);
  }
  idle_causes_.each_part_from_now([this](TimeNs start, TimeNs end, IdleCause cause) {
    idle.add({start, end, cause});
  });
}

void Timeline::add(const SelectedRows& rows) {
  const auto add_record = [this](const auto& record, bool) { add(record); };
  idle_causes_.add(rows);
  stacks.add(rows);
  rows.each<MarkRecord>(kColumns, add_record);
  rows.launches(kColumns, add_record);
  rows.work(kColumns, add_record);
  // After the work, which may end a window early.
  rows.ranges(kColumns, add_record);
  rows.each<AllocRecord>(kColumns, [this](const AllocRecord& alloc, bool) { memory.add(alloc); });
  rows.lines<ConditionRecord>([this](const ConditionRecord& condition) { conditions.add(condition); });
  rows.samples([this](const SamplesRecord& line) {
    samples.try_emplace(line.gpu, limits_.samples / 2).first->second.add(line);
  });
}

std::uint32_t Timeline::lane_of(const StreamKey& stream) const {
  const auto at = std::lower_bound(lanes.begin(), lanes.end(), stream);
  const bool own = at != lanes.end() && *at == stream;
  return static_cast<std::uint32_t>(own ? at - lanes.begin() : static_cast<std::ptrdiff_t>(lanes.size()));
}

TimeWindow* Timeline::window_at(TimeNs time) {
  for (TimeWindow& window : detail.windows) {
    if (time >= window.start_ns && time < window.end_ns) return &window;
  }
  return nullptr;
}

void Timeline::add(const KernelRecord& kernel) {
  add_work(kernel.work, KeptWork::kernel, kernel.name, 0, kernel.config);
}

void Timeline::add(const MemcpyRecord& copy) {
  add_work(copy.work, KeptWork::memcpy, static_cast<std::uint32_t>(copy.kind), copy.bytes);
}

void Timeline::add(const MemsetRecord& memset) {
  add_work(memset.work, KeptWork::memset, 0, memset.bytes);
}

void Timeline::add(const GraphRecord& graph) {
  add_work(graph.work, KeptWork::whole_graph, 0, 0);
}

void Timeline::add_work(const GpuWork& piece, KeptWork::Kind kind, std::uint32_t name, std::uint64_t bytes,
                        std::uint32_t config) {
  if (piece.start_ns == kNoTime || piece.end_ns < piece.start_ns) return;
  const std::uint32_t lane = lane_of(stream_of(piece));
  const bool is_kernel = kind == KeptWork::kernel || kind == KeptWork::whole_graph;
  if (!detail.whole) busy.add(lane, is_kernel, piece.start_ns, piece.end_ns);
  const SeenLaunch* const launch = launches_.find(piece.correlation);
  if (launch != nullptr) spans_.add(*launch, piece.start_ns, piece.end_ns);
  TimeWindow* const window = window_at(piece.start_ns);
  if (window == nullptr) return;
  if (++kept_in_[window] > detail.share) {
    // The bins were too coarse to predict the amount of work. Some work of other streams is lost too.
    window->end_ns = std::min(window->end_ns, piece.start_ns);
    return;
  }
  KeptWork kept{piece.start_ns, piece.end_ns,      lane,        piece.stream, kind,  name, config,
                piece.path,     piece.correlation, piece.graph, piece.range,  bytes, {}};
  if (launch != nullptr) {
    kept.launch = *launch;
  } else {
    waiting_.emplace(piece.correlation, work.size());
  }
  work.push_back(kept);
}

SeenLaunch Timeline::seen(const LaunchRecord& launch) {
  const HostWork& host = launch.host;
  return {host.start_ns, host.end_ns, launch.correlation, host.thread, host.path, counts_.api(launch.api)};
}

void Timeline::add(const ExactRecord& exact) {
  if (exact.is_counter_range) return;
  SeenLaunch launch = seen(exact.launch);
  // The values of a graph are sums over all nodes, so no node gets them.
  if (exact.measured && exact.has_bytes && exact.kind != WorkKind::graph) {
    launch.dram_read_bytes = static_cast<std::int64_t>(exact.dram_read_bytes);
    launch.dram_write_bytes = static_cast<std::int64_t>(exact.dram_write_bytes);
    launch.l2_bytes = static_cast<std::int64_t>(exact.l2_bytes);
  }
  add_launch(launch);
}

void Timeline::add_launch(const SeenLaunch& launch) {
  launches_.add(launch);
  const auto [first, last] = waiting_.equal_range(launch.correlation);
  for (auto at = first; at != last; ++at) {
    KeptWork& kept = work[at->second];
    kept.launch = launch;
    spans_.add(launch, kept.start_ns, kept.end_ns);
  }
  waiting_.erase(first, last);
}

void Timeline::add(const RangeRecord& range) {
  if (range.start_ns == kNoTime || kept_ranges_.contains(range.id)) return;
  if (window_ranges_.size() >= limits_.ranges || window_at(range.start_ns) == nullptr) return;
  window_ranges_.push_back(kept_range(range, counts_.last_ns));
}

void Timeline::add(const MarkRecord& mark) {
  if (marks.size() < kMaxMarks) marks.push_back({mark.at_ns, mark.thread, mark.name});
}

void Timeline::finish() {
  idle_causes_.finish();
  stacks.finish();
  std::erase_if(work, [this](const KeptWork& kept) { return window_at(kept.start_ns) == nullptr; });
  std::sort(work.begin(), work.end(), [](const KeptWork& a, const KeptWork& b) {
    return a.lane != b.lane ? a.lane < b.lane : a.start_ns < b.start_ns;
  });
  if (!window_ranges_.empty()) {
    std::sort(window_ranges_.begin(), window_ranges_.end(),
              [](const KeptRange& a, const KeptRange& b) { return a.start_ns < b.start_ns; });
    RangeSpans of_windows(window_ranges_, names_);
    for (const KeptWork& kept : work) {
      if (kept.launch.start_ns != kNoTime) of_windows.add(kept.launch, kept.start_ns, kept.end_ns);
    }
    ranges.insert(ranges.end(), window_ranges_.begin(), window_ranges_.end());
  }
  // spans_ must not be used after this: ranges move.
  std::sort(ranges.begin(), ranges.end(),
            [](const KeptRange& a, const KeptRange& b) { return a.start_ns < b.start_ns; });
  std::sort(marks.begin(), marks.end(),
            [](const KeptMark& a, const KeptMark& b) { return a.at_ns < b.at_ns; });
}

}  // namespace rangefinder
