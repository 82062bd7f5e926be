// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/sampled_rows.h"

#include <unordered_map>

namespace rangefinder {

std::vector<RowBytes> live_sampled_bytes(const std::vector<PathTotals>& rows, const SampleSharing& samples) {
  std::vector<RowBytes> out(rows.size());
  if (!samples.any()) return out;
  std::unordered_map<std::uint32_t, SampledBytes> own;
  for (const SampledBytes& path : samples.paths()) own.emplace(path.id, path);

  // From the last row to the first, so that a path's children are summed before it.
  std::vector<SampledBytes> below;  // by depth: sum of the children since the last shallower row
  for (std::size_t i = rows.size(); i-- > 0;) {
    const PathTotals& row = rows[i];
    const auto at = own.find(row.path);
    SampledBytes sum = at == own.end() ? SampledBytes{} : at->second;
    if (below.size() < row.depth + 2) below.resize(row.depth + 2);
    const auto add = [](SampledBytes& to, const SampledBytes& from) {
      for (std::size_t c = 0; c < kSharedColumns; ++c) to.bytes[c] += from.bytes[c];
      to.overlap_ns += from.overlap_ns;
      to.work_ns += from.work_ns;
    };
    if (row.path != 0) {
      add(sum, below[row.depth + 1]);
      below[row.depth + 1] = {};
      add(below[row.depth], sum);
    }
    if (sum.work_ns == 0) continue;
    out[i] = sampled_bytes(row, sum.bytes, sum.work_ns, sum.overlap_ns);
    out[i].samples = sum.samples;
  }
  return out;
}

}  // namespace rangefinder
