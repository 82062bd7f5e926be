// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/gpu_gaps.h"

#include <algorithm>

namespace rangefinder {

void GpuGaps::work(const WorkEvent& event, const Holds& holds, bool counts) {
  const auto [at, first] = busy_until_.try_emplace(event.work.gpu, event.work.end_ns);
  if (first) return;
  TimeNs gap_start = at->second;
  for (const Holds::Span& span : unrecorded_) {
    if (span.start_ns < event.work.start_ns) gap_start = std::max(gap_start, span.end_ns);
  }
  const std::uint64_t gap_ns = elapsed_ns(gap_start, event.work.start_ns);
  at->second = std::max(at->second, event.work.end_ns);
  const bool host_was_late = event.launched() && event.first_of_launch &&
                             elapsed_ns(event.launch_start_ns, gap_start) <= kLaunchLeadNs;
  if (gap_ns < kShortestNs || !host_was_late) return;
  const std::uint64_t length = holds.net_ns(event.thread, gap_start, event.work.start_ns);
  if (length < kShortestNs) return;
  if (length >= kLongNs) {
    long_.push_back({gap_start, event.work.start_ns, event.thread, event.work.path, event.after_sync});
    return;
  }
  if (!counts) return;
  ShortGaps& gaps = short_[event.work.path];
  (event.after_sync ? gaps.sync_count : gaps.count) += 1;
  (event.after_sync ? gaps.sync_ns : gaps.ns) += length;
  if (keeps_short_times_ && !event.after_sync) short_times_.add(event.thread, gap_start, event.work.start_ns);
}

}  // namespace rangefinder
