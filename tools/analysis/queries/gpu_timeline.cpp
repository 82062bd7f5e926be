// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/gpu_timeline.h"

#include <algorithm>

namespace rangefinder {

void GpuTimeline::add(const GpuWork& work, bool is_kernel) {
  if (work.start_ns == kNoTime || work.end_ns == kNoTime || work.end_ns <= work.start_ns) return;
  order_.add({work.start_ns, work.end_ns, {work.gpu, work.context, work.stream}, is_kernel},
             [this](const Work& next) { start(next); });
}

void GpuTimeline::add(const GapRecord& gap) {
  if (gap.start_ns != kNoTime && gap.end_ns > gap.start_ns) gaps_.push_back({gap.start_ns, gap.end_ns});
}

void GpuTimeline::finish() {
  order_.finish([this](const Work& next) { start(next); });
  for (auto& [id, gpu] : gpus_) {
    TimeNs last = gpu.now_ns;
    for (const Running& work : gpu.running) last = std::max(last, work.end_ns);
    advance(gpu, id, last);
  }
}

void GpuTimeline::start(const Work& work) {
  if (latest_ == nullptr || latest_id_ != work.stream.gpu) latest_ = &gpus_[latest_id_ = work.stream.gpu];
  Gpu& gpu = *latest_;
  if (gpu.now_ns == kNoTime) gpu.now_ns = work.at_ns;
  if (work.at_ns < gpu.now_ns) {
    late_ns_ += static_cast<std::uint64_t>(std::min(gpu.now_ns, work.end_ns) - work.at_ns);
    if (work.end_ns <= gpu.now_ns) return;
  }
  advance(gpu, work.stream.gpu, work.at_ns);
  Stream& stream = streams_[work.stream];
  gpu.running.push_back({work.end_ns, &stream, work.is_kernel});
  std::push_heap(gpu.running.begin(), gpu.running.end());
  ++(work.is_kernel ? gpu.kernels : gpu.copies);
  if (stream.works++ != 0) return;
  stream.since_ns = gpu.now_ns;
  stream.place = gpu.busy.size();
  gpu.busy.push_back(&stream);
}

/// Visits the spans up to `until`, and removes the work that ends by then.
void GpuTimeline::advance(Gpu& gpu, std::uint32_t id, TimeNs until) {
  while (!gpu.running.empty() && gpu.running.front().end_ns <= until) {
    show(gpu, id, gpu.running.front().end_ns);
    stop_first(gpu);
  }
  show(gpu, id, until);
}

void GpuTimeline::show(Gpu& gpu, std::uint32_t id, TimeNs until) {
  if (gpu.running.empty()) {
    for (; gpu.gap < gaps_.size() && gaps_[gpu.gap].start_ns < until; ++gpu.gap) {
      const Unknown& gap = gaps_[gpu.gap];
      if (gap.end_ns <= gpu.now_ns) continue;
      show_part(gpu, id, gap.start_ns);
      gpu.now_ns = std::min(gap.end_ns, until);
      if (gap.end_ns > until) break;
    }
  }
  show_part(gpu, id, until);
}

void GpuTimeline::show_part(Gpu& gpu, std::uint32_t id, TimeNs until) {
  if (until <= gpu.now_ns) return;
  const GpuSpan span{gpu.now_ns, until, id, gpu.kernels, gpu.copies, gpu.busy.size()};
  if (gpu.busy.size() == 1) gpu.busy.front()->busy.alone_ns += span.ns();
  visit_(span);
  gpu.now_ns = until;
}

void GpuTimeline::stop_first(Gpu& gpu) {
  std::pop_heap(gpu.running.begin(), gpu.running.end());
  const Running work = gpu.running.back();
  gpu.running.pop_back();
  --(work.is_kernel ? gpu.kernels : gpu.copies);
  Stream& stream = *work.stream;
  if (--stream.works != 0) return;
  stream.busy.busy_ns += static_cast<std::uint64_t>(gpu.now_ns - stream.since_ns);
  gpu.busy.back()->place = stream.place;
  gpu.busy[stream.place] = gpu.busy.back();
  gpu.busy.pop_back();
}

}  // namespace rangefinder
