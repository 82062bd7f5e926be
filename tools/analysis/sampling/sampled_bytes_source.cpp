// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/sampled_bytes_source.h"

#include <algorithm>

namespace rangefinder {
namespace {

/// Rates of one GPU's samples in one column: all of them, and those without work.
struct RateLists {
  std::vector<double> all, without_work;
};

double at_part(std::vector<double>& values, double part) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

RateLists rates_of(const std::vector<SampleBlock>& blocks, std::uint32_t gpu, std::size_t column) {
  RateLists lists;
  SampleSweep sweep;
  for (const SampleBlock& block : blocks) {
    if (block.gpu != gpu) continue;
    sweep.run(block.batch(), 0, 0,
              [&](const OrderedSample& sample, const std::vector<SampleOverlap>& overlaps) {
                if (sample.length_ns == 0) return;
                const double rate = static_cast<double>(sample.units[column]) / sample.length_ns;
                lists.all.push_back(rate);
                if (overlaps.empty()) lists.without_work.push_back(rate);
              });
  }
  return lists;
}

}  // namespace

SampledSource::SampledSource(WorkGroups& groups, OnBlock on_block, std::size_t max_pending)
    : groups_(groups), on_block_(std::move(on_block)), order_(max_pending) {}

void SampledSource::add(std::uint32_t gpu, const OrderedWork& work, bool count_time) {
  if (count_time && work.end_ns > work.start_ns) {
    if (work.path >= owner_work_.size()) owner_work_.resize(std::size_t{work.path} + 1);
    owner_work_[work.path].ns += static_cast<std::uint64_t>(work.end_ns - work.start_ns);
    ++owner_work_[work.path].count;
    if (keeps_work_) work_.push_back({work, gpu});
  }
  if (!order_.add(gpu, work)) ++late_work_;
  if (const auto until = order_.crowded_until()) settle(*until);
}

void SampledSource::take(const KernelRecord& kernel) {
  if (is_timed(kernel.work)) add(kernel.work.gpu, groups_.number(kernel));
}

void SampledSource::take(const MemcpyRecord& copy) {
  if (!is_timed(copy.work)) return;
  truth_.add(copy);
  add(copy.work.gpu, groups_.number(copy));
  // A copy between GPUs moves bytes on both, but its record names only one.
  const std::uint32_t other = copy.work.gpu == copy.source_gpu ? copy.destination_gpu : copy.source_gpu;
  if (copy.kind != CopyKind::PtoP || other == copy.work.gpu) return;
  MemcpyRecord there = copy;
  there.work.gpu = other;
  add(other, groups_.number(there), false);
}

void SampledSource::take(const MemsetRecord& memset) {
  if (is_timed(memset.work)) add(memset.work.gpu, groups_.number(memset));
}

void SampledSource::take(const GraphRecord& graph) {
  if (is_timed(graph.work)) add(graph.work.gpu, groups_.number(graph));
}

void SampledSource::take(const SamplesRecord& samples) {
  auto end = std::find_if(line_ends_.begin(), line_ends_.end(),
                          [&](const auto& entry) { return entry.first == samples.gpu; });
  LineSums line;
  line.gpu = samples.gpu;
  line.to_ns =
      samples.runs.empty() ? (end == line_ends_.end() ? 0 : end->second) : samples.runs.back().end_ns;
  const TimeNs first_ns = samples.runs.empty() ? line.to_ns : samples.runs.front().start_ns;
  line.from_ns = end == line_ends_.end() ? first_ns : std::min(end->second, line.to_ns);
  line.idle_samples = samples.idle_samples;
  line.idle_units = samples.idle_units;
  for (std::size_t c = kSamplePcieRead; c <= kSampleNvlinkTransmitted; ++c) {
    line.link_units[c] = samples.idle_units[c];
    for (const std::uint32_t value : samples.columns[c]) line.link_units[c] += value;
  }
  lines_.push_back(line);
  gaps_.add(samples);
  if (end == line_ends_.end()) {
    line_ends_.emplace_back(samples.gpu, line.to_ns);
  } else {
    end->second = line.to_ns;
  }
  order_.add(samples);
  if (const auto until = order_.crowded_until()) settle(*until);
}

void SampledSource::settle(TimeNs until_ns) {
  order_.advance(until_ns, [this](const SampleBatch& batch) {
    sweep_.run(batch, 0, 0, [&](const OrderedSample& sample, const std::vector<SampleOverlap>& overlaps) {
      truth_.add_sample(batch, sample, overlaps);
    });
    std::vector<SampleBlock> blocks;
    append_blocks(blocks, batch, known_.share(batch));
    for (SampleBlock& block : blocks) on_block_(std::move(block));
  });
  truth_.settle(until_ns);
}

void SampledSource::finish() {
  settle(INT64_MAX);
}

void SampledSource::forget_work() {
  keeps_work_ = false;
  work_ = {};
}

BackgroundRates background_of(const std::vector<SampleBlock>& blocks, const std::vector<LineSums>& lines) {
  BackgroundRates background;
  std::vector<std::uint32_t> gpus;
  for (const LineSums& line : lines) {
    if (std::find(gpus.begin(), gpus.end(), line.gpu) == gpus.end()) gpus.push_back(line.gpu);
  }
  for (const std::uint32_t gpu : gpus) {
    BackgroundRates::Rates rates{};
    for (std::size_t c = 0; c < kSharedColumns; ++c) {
      RateLists lists = rates_of(blocks, gpu, c);
      double idle_units = 0, idle_samples = 0;
      for (const LineSums& line : lines) {
        if (line.gpu != gpu) continue;
        idle_units += static_cast<double>(line.idle_units[kSharedSampleColumns[c]]);
        idle_samples += static_cast<double>(line.idle_samples);
      }
      const double within = at_part(lists.all, 0.02), resting = at_part(lists.without_work, 0.5);
      rates[c] = lists.without_work.empty() ? 0 : std::min(within, resting);
      if (idle_samples > static_cast<double>(lists.without_work.size()) && !blocks.empty()) {
        const double interval_ns = blocks.front().samples.front().length_ns;
        const double idle = interval_ns > 0 ? idle_units / (idle_samples * interval_ns) : 0;
        rates[c] = lists.all.empty() ? idle : std::min(within, idle);
      }
    }
    background.set(gpu, rates);
  }
  return background;
}

}  // namespace rangefinder
