// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/unmix_blocks.h"

#include <algorithm>

namespace rangefinder {

void append_blocks(std::vector<SampleBlock>& blocks, const SampleBatch& batch,
                   std::span<const KnownShare> known_shares) {
  std::vector<std::uint32_t> running;  // sorted by start: work so far that may overlap the next block
  auto share = known_shares.begin();
  std::size_t next = 0;
  for (std::size_t first = 0; first < batch.samples.size(); first += kBlockSamples) {
    const auto part = batch.samples.subspan(first, std::min(kBlockSamples, batch.samples.size() - first));
    const TimeNs from = part.front().start_ns - kSampleReachNs, to = part.back().end_ns() + kSampleReachNs;
    while (next < batch.work.size() && batch.work[next].start_ns < to)
      running.push_back(static_cast<std::uint32_t>(next++));
    std::erase_if(running, [&](std::uint32_t i) { return batch.work[i].end_ns <= from; });

    SampleBlock& block = blocks.emplace_back();
    block.gpu = batch.gpu;
    block.samples.assign(part.begin(), part.end());
    for (const std::uint32_t i : running) block.work.push_back(batch.work[i]);
    for (; share != known_shares.end() && share->sample < first + part.size(); ++share) {
      // Known work overlaps its sample, so it is one of the block's.
      const auto place = std::lower_bound(running.begin(), running.end(), share->work) - running.begin();
      block.known_shares.push_back({static_cast<std::uint32_t>(share->sample - first),
                                    static_cast<std::uint32_t>(place), share->units});
    }
  }
}

const BackgroundRates::Rates& BackgroundRates::of(std::uint32_t gpu) const noexcept {
  static constexpr Rates kNone{};
  for (const auto& [id, rates] : gpus_) {
    if (id == gpu) return rates;
  }
  return kNone;
}

void BackgroundRates::set(std::uint32_t gpu, const Rates& rates) {
  gpus_.emplace_back(gpu, rates);
}

void UnmixRows::add(const OrderedWork& work, const SampleOverlap& overlap, TimeNs start, TimeNs end,
                    const Pace& pace) {
  const auto same = std::find_if(entries_.begin(), entries_.end(),
                                 [&](const RowEntry& entry) { return entry.group == work.kind; });
  RowEntry& entry = same == entries_.end() ? entries_.emplace_back() : *same;
  entry.group = work.kind;
  const auto from = static_cast<double>(std::max(work.start_ns, start) - work.start_ns);
  const auto duration = static_cast<double>(work.end_ns - work.start_ns);
  const double centre = (from + 0.5 * overlap.ns) / duration;
  const double ns = overlap.ns * pace.of(work.kind, duration);
  entry.head_ns += ns * (1 - centre);
  entry.tail_ns += ns * centre;
  entry.cut_at_start |= work.start_ns < start;
  entry.cut_at_end |= work.end_ns > end;
}

}  // namespace rangefinder
