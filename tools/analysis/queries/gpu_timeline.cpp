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
    for (const Work& work : gpu.running) last = std::max(last, work.end_ns);
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
  gpu.running.push_back(work);
  ++(work.is_kernel ? gpu.kernels : gpu.copies);
  const auto same = [&work](const GpuSpan::Active& active) { return active.stream == work.stream; };
  const auto at = std::find_if(gpu.streams.begin(), gpu.streams.end(), same);
  if (at == gpu.streams.end())
    gpu.streams.push_back({work.stream, 1});
  else
    ++at->works;
}

/// Visits the spans up to `until`, and removes the work that ends by then.
void GpuTimeline::advance(Gpu& gpu, std::uint32_t id, TimeNs until) {
  while (!gpu.running.empty()) {
    const auto first = std::min_element(gpu.running.begin(), gpu.running.end(),
                                        [](const Work& a, const Work& b) { return a.end_ns < b.end_ns; });
    if (first->end_ns > until) break;
    show(gpu, id, first->end_ns);
    stop(gpu, static_cast<std::size_t>(first - gpu.running.begin()));
  }
  show(gpu, id, until);
}

void GpuTimeline::show(Gpu& gpu, std::uint32_t id, TimeNs until) {
  if (gpu.running.empty()) {
    for (const Unknown& gap : gaps_) {
      if (gap.end_ns <= gpu.now_ns || gap.start_ns >= until) continue;
      show_part(gpu, id, gap.start_ns);
      gpu.now_ns = std::min(gap.end_ns, until);
    }
  }
  show_part(gpu, id, until);
}

void GpuTimeline::show_part(Gpu& gpu, std::uint32_t id, TimeNs until) {
  if (until <= gpu.now_ns) return;
  visit_({gpu.now_ns, until, id, gpu.kernels, gpu.copies, &gpu.streams});
  gpu.now_ns = until;
}

void GpuTimeline::stop(Gpu& gpu, std::size_t index) {
  const Work work = gpu.running[index];
  gpu.running[index] = gpu.running.back();
  gpu.running.pop_back();
  --(work.is_kernel ? gpu.kernels : gpu.copies);
  const auto at =
      std::find_if(gpu.streams.begin(), gpu.streams.end(),
                   [&work](const GpuSpan::Active& active) { return active.stream == work.stream; });
  if (--at->works == 0) gpu.streams.erase(at);
}

}  // namespace rangefinder
