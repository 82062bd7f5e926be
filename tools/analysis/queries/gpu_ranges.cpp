// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/gpu_ranges.h"

#include <algorithm>

namespace rangefinder {

void GpuRanges::add(const StreamKey& stream, TimeNs start_ns, TimeNs end_ns,
                    const std::vector<std::uint32_t>& chain) {
  std::vector<GpuRange>& open = open_[stream];
  std::size_t same = 0;
  while (same < open.size() && same < chain.size() && open[same].path == chain[same]) ++same;
  close(open, same);
  for (GpuRange& range : open) range.end_ns = std::max(range.end_ns, end_ns);
  for (std::size_t level = same; level < chain.size(); ++level)
    open.push_back({chain[level], static_cast<std::uint32_t>(level), start_ns, end_ns});
}

void GpuRanges::close(std::vector<GpuRange>& open, std::size_t levels) {
  for (; open.size() > levels; open.pop_back()) visit_(open.back());
}

void GpuRanges::finish() {
  for (auto& [stream, open] : open_) close(open, 0);
}

}  // namespace rangefinder
