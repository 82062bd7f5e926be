// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/sampled_bytes_held.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "tools/analysis/sampling/inseparable.h"

namespace rangefinder {
namespace {

void read_into(const RecordReader& reader, WorkGroups& groups, SampledSource& source) {
  groups.start_again();
  reader([&](const Line& line) { std::visit([&](const auto& record) { source.take(record); }, line); });
  source.finish();
}

TimeNs length_inside(TimeNs start, TimeNs end, const SampleWindow& window) noexcept {
  return std::max<TimeNs>(0, std::min(end, window.to_ns) - std::max(start, window.from_ns));
}

bool is_all(const SampleWindow& window) noexcept {
  return window.from_ns == INT64_MIN && window.to_ns == INT64_MAX;
}

double part_of_line(const LineSums& line, const SampleWindow& window) noexcept {
  if (line.from_ns >= window.from_ns && line.to_ns <= window.to_ns) return 1;
  if (line.to_ns <= line.from_ns) return 0;
  return static_cast<double>(length_inside(line.from_ns, line.to_ns, window)) /
         static_cast<double>(line.to_ns - line.from_ns);
}

std::uint64_t part_of(std::uint64_t count, double part) noexcept {
  return part >= 1 ? count : static_cast<std::uint64_t>(std::llround(static_cast<double>(count) * part));
}

}  // namespace

HeldTrace::HeldTrace(RecordReader reader, const Selection* selection, std::size_t max_held)
    : reader_(std::move(reader)), max_held_(max_held), groups_(std::make_unique<WorkGroups>(selection)) {
  SampledSource* reading = nullptr;
  SampledSource source(*groups_, [&](SampleBlock&& block) { hold(std::move(block), *reading); });
  reading = &source;
  read_into(reader_, *groups_, source);

  lines_ = source.lines();
  work_ = source.work();
  gaps_ = source.gaps();
  owner_work_ = source.owner_work();
  truth_ = source.truth();
  late_work_ = source.late_work();
  InseparablePaths inseparable(*groups_);
  for (const SampleBlock& block : blocks_) inseparable.add(block);
  inseparable_ = inseparable.groups();
  if (any_samples()) rates_ = unmix(blocks_, groups_->mean_durations(), background_of(blocks_, lines_));
}

void HeldTrace::hold(SampleBlock&& block, SampledSource& source) {
  if (seen_++ % stride_ != 0) return;
  held_ += block.samples.size() + block.work.size() / 2;
  blocks_.push_back(std::move(block));
  while (held_ > max_held_ && blocks_.size() > 1) {
    stride_ *= 2;
    held_ = 0;
    std::vector<SampleBlock> kept;
    for (std::size_t i = 0; i < blocks_.size(); i += 2) {
      held_ += blocks_[i].samples.size() + blocks_[i].work.size() / 2;
      kept.push_back(std::move(blocks_[i]));
    }
    blocks_ = std::move(kept);
    source.forget_work();
  }
}

void HeldTrace::for_each_block(const std::function<void(const SampleBlock&)>& see) const {
  if (stride_ == 1) {
    for (const SampleBlock& block : blocks_) see(block);
    return;
  }
  // The second pass gives the same numbers and no new ones: all work is numbered already.
  SampledSource source(*groups_, [&](SampleBlock&& block) { see(block); });
  source.forget_work();
  read_into(reader_, *groups_, source);
}

std::vector<OwnerWork> HeldTrace::owner_work(const SampleWindow& window) const {
  if (is_all(window) && gaps_.none()) return owner_work_;
  std::vector<OwnerWork> inside(owner_work_.size());
  const auto add = [&](const OrderedWork& work, std::uint32_t gpu) {
    if (work.start_ns == kNoTime || work.end_ns == kNoTime) return;
    inside[work.path].ns += static_cast<std::uint64_t>(length_inside(work.start_ns, work.end_ns, window));
    inside[work.path].lost_ns +=
        gaps_.lost_ns(gpu, std::max(work.start_ns, window.from_ns), std::min(work.end_ns, window.to_ns));
    if (work.start_ns >= window.from_ns && work.start_ns < window.to_ns) ++inside[work.path].count;
  };
  if (stride_ == 1) {
    for (const auto& [work, gpu] : work_) add(work, gpu);
    return inside;
  }
  groups_->start_again();
  reader_([&](const Line& line) {
    if (const auto* kernel = std::get_if<KernelRecord>(&line))
      add(groups_->number(*kernel), kernel->work.gpu);
    if (const auto* copy = std::get_if<MemcpyRecord>(&line)) add(groups_->number(*copy), copy->work.gpu);
    if (const auto* memset = std::get_if<MemsetRecord>(&line))
      add(groups_->number(*memset), memset->work.gpu);
    if (const auto* graph = std::get_if<GraphRecord>(&line)) add(groups_->number(*graph), graph->work.gpu);
  });
  return inside;
}

void HeldTrace::add_lines(const SampleWindow& window, SampleTotals& totals) const {
  totals.late_work += late_work_;
  for (const LineSums& line : lines_) {
    const double part = part_of_line(line, window);
    totals.idle_samples += part_of(line.idle_samples, part);
    for (std::size_t c = 0; c < kSharedColumns; ++c) {
      const std::uint64_t idle = part_of(line.idle_units[kSharedSampleColumns[c]], part) * kSampleUnitBytes;
      totals.bytes[c] += idle;
      totals.unattributed[c] += idle;
    }
    for (std::size_t c = kSamplePcieRead; c <= kSampleNvlinkTransmitted; ++c) {
      totals.link_bytes[c] += part_of(line.link_units[c], part) * kSampleUnitBytes;
    }
  }
}

}  // namespace rangefinder
