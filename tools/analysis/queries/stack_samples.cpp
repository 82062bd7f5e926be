// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/stack_samples.h"

namespace rangefinder {

void StackSamples::add(const SelectedRows& rows) {
  constexpr TimeNs kLatestStart = kMaxNs - (TimeNs{UINT32_MAX} + 1) * 1000;
  main_thread_ = static_cast<std::uint32_t>(rows.names().header.pid);
  rows.lines<StackSampleRecord>([&](const StackSampleRecord& record) {
    if (record.start_ns == kNoTime || record.start_ns > kLatestStart) return;
    for (const StackSample& sample : record.samples) {
      const TimeNs at_ns = sample_time_ns(record, sample);
      if (rows.selects(at_ns)) threads_[record.thread].push_back({at_ns, sample.stack, record.interval_ns});
    }
  });
}

const std::vector<StackMoment>& StackSamples::of(std::uint32_t thread) const {
  static const std::vector<StackMoment> kNone;
  auto at = threads_.find(thread);
  if (at == threads_.end()) at = threads_.find(main_thread_);
  return at == threads_.end() ? kNone : at->second;
}

void StackSamples::finish() {
  const auto earlier = [](const StackMoment& a, const StackMoment& b) { return a.at_ns < b.at_ns; };
  for (auto& [thread, moments] : threads_) {
    if (!std::is_sorted(moments.begin(), moments.end(), earlier))
      std::stable_sort(moments.begin(), moments.end(), earlier);
  }
}

void ThreadSpans::add(std::uint32_t thread, TimeNs from, TimeNs to) {
  Spans& spans = threads_[thread];
  from = std::max(from, spans.end_ns);
  if (to <= from) return;
  spans.list.add(from, to);
  spans.end_ns = to;
}

void ThreadSpans::take(ThreadSpans& later) {
  later.each([this](std::uint32_t thread, const GapList& list) {
    list.each([&](const Gap& gap) { add(thread, gap.from_ns, gap.to_ns); });
  });
  later.clear();
}

}  // namespace rangefinder
