// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/sampled_rows.h"

#include <array>
#include <cmath>
#include <unordered_map>

#include "profiler/attribution/kernel_carry.h"

namespace rangefinder {
namespace {

// Variation of counters, clocks and cache state; bytes of samples before rates were learned.
constexpr double kFloorPart = 0.02;

struct Sum {
  SampledBytes bytes;
  std::array<double, kSharedColumns> squared_carry{};

  void add(const Sum& other) {
    for (std::size_t c = 0; c < kSharedColumns; ++c) {
      bytes.bytes[c] += other.bytes.bytes[c];
      squared_carry[c] += other.squared_carry[c];
    }
    bytes.overlap_ns += other.bytes.overlap_ns;
    bytes.work_ns += other.bytes.work_ns;
  }
  [[nodiscard]] double error(SharedColumn c) const noexcept {
    return kFloorPart * static_cast<double>(bytes.bytes[c]) + bytes.uncertain[c] +
           std::sqrt(squared_carry[c]);
  }
};

}  // namespace

std::vector<RowBytes> live_sampled_bytes(const std::vector<PathTotals>& rows, const SampleSharing& samples) {
  std::vector<RowBytes> out(rows.size());
  if (!samples.any()) return out;
  std::unordered_map<std::uint32_t, SampledBytes> own;
  for (const SampledBytes& path : samples.paths()) own.emplace(path.id, path);

  // From the last row to the first, so that a path's children are summed before it.
  std::vector<Sum> below;  // by depth: sum of the children since the last shallower row
  for (std::size_t i = rows.size(); i-- > 0;) {
    const PathTotals& row = rows[i];
    const auto at = own.find(row.path);
    Sum sum;
    if (at != own.end()) sum.bytes = at->second;  // `uncertain` is inclusive already
    for (std::size_t c = 0; c < kSharedColumns; ++c) {
      sum.squared_carry[c] = squared_carry(static_cast<SharedColumn>(c),
                                           static_cast<double>(sum.bytes.bytes[kSharedL2]), sum.bytes.pieces);
    }
    if (below.size() < row.depth + 2) below.resize(row.depth + 2);
    if (row.path != 0) {
      sum.add(below[row.depth + 1]);
      below[row.depth + 1] = {};
      below[row.depth].add(sum);
    }
    if (sum.bytes.work_ns == 0) continue;
    out[i] = sampled_bytes(row, sum.bytes.bytes, sum.bytes.work_ns, sum.bytes.overlap_ns);
    out[i].samples = sum.bytes.samples;
    out[i].read_error = sum.error(kSharedDramRead);
    out[i].write_error = sum.error(kSharedDramWrite);
    out[i].l2_error = sum.error(kSharedL2);
  }
  return out;
}

}  // namespace rangefinder
