// SPDX-License-Identifier: Apache-2.0
#include "tools/page/memory_points.h"

#include <algorithm>
#include <utility>

namespace rangefinder {

void MemoryPoints::add(const AllocRecord& record) {
  if (record.kind == AllocKind::pool) return;
  const auto in_use = [this](const Block& block) -> std::uint64_t& {
    return block.host ? now_.host_bytes : now_.device_bytes;
  };
  if (const auto at = live_.find(record.address); at != live_.end()) {
    in_use(at->second) -= at->second.bytes;
    live_.erase(at);
  } else if (record.is_free) {
    return;
  }
  if (!record.is_free) {
    const Block block{record.bytes, record.kind == AllocKind::host};
    in_use(block) += block.bytes;
    live_.emplace(record.address, block);
  }
  now_.at_ns = record.host.end_ns;
  points_.push_back(now_);
  if (points_.size() <= 2 * limit_) return;
  for (std::size_t i = 0; i < points_.size() / 2; ++i) {
    const MemoryPoint &a = points_[2 * i], &b = points_[2 * i + 1];
    points_[i] = {a.at_ns, std::max(a.device_bytes, b.device_bytes), std::max(a.host_bytes, b.host_bytes)};
  }
  points_.resize(points_.size() / 2);
}

std::vector<MemoryPoint> MemoryPoints::extract() {
  if (!points_.empty()) points_.push_back(now_);
  std::stable_sort(points_.begin(), points_.end(),
                   [](const MemoryPoint& a, const MemoryPoint& b) { return a.at_ns < b.at_ns; });
  return std::exchange(points_, {});
}

}  // namespace rangefinder
