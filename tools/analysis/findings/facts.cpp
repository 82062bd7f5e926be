// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/findings/facts.h"

#include <algorithm>
#include <type_traits>

#include "tools/analysis/model/range_names.h"

namespace rangefinder {
namespace {

// Shorter launches are too many to keep, and do not cause long gaps.
constexpr std::uint64_t kLongLaunchNs = 20'000;

}  // namespace

void FindingFacts::begin(const TraceNames& names) {
  for (const auto& [path, record] : names.paths) {
    if (record.name == kCompilation) compilers_.insert(path);
  }
}

void FindingFacts::add(const SelectedRows& rows) {
  if (names_ == nullptr) begin(rows.names());
  names_ = &rows.names();
  // Without stacks the times would be kept in vain. The first ones come within a second of the trace.
  if (!names_->stacks.empty()) {
    gaps.keep_short_times();
    if (idle_ != nullptr) idle_->keep_host_times();
  }
  add_lines(rows);
  iteration_log.begin_chunk(rows);
  kernels.add(rows);
  if (idle_ != nullptr) idle_->begin_chunk(rows);
  rows.calls(kColumns, [&](const auto& call) { add_call(call, rows.names().holds); });
  constexpr Columns kRanges = Column::range_times | Column::range_path | Column::range_thread;
  rows.ranges(kRanges, [this](const RangeRecord& range, bool begins) {
    coverage.add_range(range, begins && range.name == 0 && names_->parent_of(range.path) == 0);
    if (begins) iteration_log.add_range(range);
    const bool compiles = begins && !compilers_.empty() && compilers_.count(range.path) != 0;
    if (compiles && range.name == 0 && range.end_ns != kNoTime)
      compilation.push_back({range.start_ns, range.end_ns});
  });
  rows.work(kColumns, [this](const auto& record, bool begins) { add_row(record, begins); });
  launched_.release_until(rows.later_work_ns(), [this](const WorkEvent& event) { add_work(event); });
}

void FindingFacts::add_lines(const SelectedRows& rows) {
  rows.lines<ContextRecord>([this](const ContextRecord& context) {
    log.add(context);
    waits_.add(context);
  });
  rows.lines<GapRecord>([this](const GapRecord& gap) { gaps.unrecorded(gap); });
  stacks.add(rows);
}

template <typename Record>
void FindingFacts::add_row(const Record& record, bool begins) {
  iteration_log.add_work(record, begins);
  if constexpr (!is_graph_record<Record>) {
    if (begins) launched_.add(record, [this](const WorkEvent& event) { add_work(event); });
  }
}

template <typename Call>
void FindingFacts::add_call(const Call& call, const Holds& holds) {
  if (idle_ != nullptr) idle_->add_call(call);
  iteration_log.add_call(call);
  captures.add(call);
  if constexpr (requires { launched_.add(call, holds); }) launched_.add(call, holds);
  if constexpr (requires { log.add(call, holds); }) log.add(call, holds);
  if constexpr (std::is_same_v<Call, SyncRecord>) {
    launched_.add(call);
    any_sync = true;
  }
  if constexpr (std::is_same_v<Call, AllocRecord>) any_alloc = true;
  if constexpr (std::is_same_v<Call, EventRecord>) {
    any_event = true;
    waits_.add(call);
  }
}

void FindingFacts::add_work(const WorkEvent& event) {
  // Of iterations that no range marks, paths do not tell what ran before the first.
  const Iterations& iterations = iteration_log.iterations();
  const bool counts = iterations.by_range() || iterations.of(event.work) != Iterations::kNone;
  const KernelSort sort = event.kind == WorkKind::kernel ? sorts_.of(event.name, *names_) : KernelSort::other;
  gaps.work(event, names_->holds, counts);
  log.add(event);
  if (idle_ != nullptr) idle_->add(event);
  if (names_->event_waits) waits_.add(event);
  coverage.add(event, *names_);
  attention.add(event, sort, counts);
  // The length of a collective is mostly the wait for other ranks, and its grid is its library's: no rule
  // about kernels may judge it.
  if (sort == KernelSort::communication) {
    communicating.emplace(event.work.context, event.work.stream);
    return;
  }
  concurrent.add(event);
  if (!counts) return;
  kernels.add(event);
  elementwise.add(event, sort, *names_);
  short_nodes.add(event);
}

void FindingFacts::finish() {
  iteration_log.finish();
  stacks.finish();
  launched_.finish([this](const WorkEvent& event) { add_work(event); });
  if (idle_ != nullptr) idle_->finish();
  elementwise.finish();
  short_nodes.finish();
  concurrent.finish();
  if (names_ != nullptr && names_->event_waits) stream_waits = waits_.waits();
  for (const LongGap& gap : gaps.long_gaps()) long_gaps_[gap.thread].push_back({gap.start_ns, gap.end_ns});
}

HostTimeline* FindingFacts::host_thread(std::uint32_t thread, TimeNs start, TimeNs end) {
  const auto gaps_of = long_gaps_.find(thread);
  if (gaps_of == long_gaps_.end()) return nullptr;
  const auto ends_later = std::upper_bound(gaps_of->second.begin(), gaps_of->second.end(), start,
                                           [](TimeNs at, const Holds::Span& gap) { return at < gap.end_ns; });
  return ends_later != gaps_of->second.end() && ends_later->start_ns < end ? &host_threads[thread] : nullptr;
}

void FindingFacts::add_host_times(const SelectedRows& rows) {
  rows.lines<HoldRecord>([this](const HoldRecord& hold) {
    if (HostTimeline* const thread = host_thread(hold.thread, hold.start_ns, hold.end_ns))
      thread->add_hold(hold);
  });
  const auto add_call = [this](const auto& record, bool) {
    if constexpr (requires { record.host; }) {
      const HostWork& host = record.host;
      const HostCall kind = host_call_kind(record);
      if (kind == HostCall::launch && elapsed_ns(host.start_ns, host.end_ns) < kLongLaunchNs) return;
      if (HostTimeline* const thread = host_thread(host.thread, host.start_ns, host.end_ns))
        thread->add_call(host.start_ns, host.end_ns, kind);
    }
  };
  rows.launches(Column::launch_times | Column::launch_thread, add_call);
  rows.each<SyncRecord>(Column::syncs, add_call);
  rows.each<AllocRecord>(Column::allocs, add_call);
  constexpr Columns kRanges = Column::range_times | Column::range_thread | Column::range_path;
  rows.ranges(kRanges, [this](const RangeRecord& range, bool begins) {
    if (!begins || range.path == 0 || range.name != 0 || range.end_ns == kNoTime) return;
    if (HostTimeline* const thread = host_thread(range.thread, range.start_ns, range.end_ns))
      thread->add_range(range.start_ns, range.end_ns, range.path);
  });
}

void FindingFacts::finish_host_times() {
  for (auto& [thread, timeline] : host_threads) timeline.finish();
}

}  // namespace rangefinder
