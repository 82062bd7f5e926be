// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/inseparable.h"

#include <algorithm>
#include <map>
#include <utility>

namespace rangefinder {

void InseparablePaths::note_pairs(std::uint32_t path, TimeNs start_ns, TimeNs end_ns) {
  for (const Running& other : running_) {
    if (other.path == path) continue;
    const auto [low, high] = std::minmax(other.path, path);
    const std::uint64_t pair = std::uint64_t{low} << 32 | high;
    if (together_ns_.size() >= kMaxPairs && together_ns_.find(pair) == together_ns_.end()) continue;
    together_ns_[pair] += static_cast<double>(std::min(other.end_ns, end_ns) - start_ns);
  }
}

void InseparablePaths::add(const SampleBlock& block) {
  if (block.samples.empty()) return;
  const TimeNs from = block.samples.front().start_ns, to = block.samples.back().end_ns();
  running_.clear();
  for (const OrderedWork& work : block.work) {
    const TimeNs start = std::max(work.start_ns, from), end = std::min(work.end_ns, to);
    if (work.is_known() || end <= start) continue;
    const std::uint32_t path = groups_.owners()[work.path].path;
    alone_ns_[path] += static_cast<double>(end - start);
    std::erase_if(running_, [&](const Running& other) { return other.end_ns <= start; });
    note_pairs(path, start, end);
    if (running_.size() < kMaxAtOnce) running_.push_back({path, end});
  }
}

std::vector<std::vector<std::uint32_t>> InseparablePaths::groups() const {
  std::unordered_map<std::uint32_t, std::uint32_t>
      first;  // a path of the same group; itself: the group's first
  const auto root = [&](std::uint32_t path) {
    while (first.at(path) != path) path = first.at(path);
    return path;
  };
  for (const auto& [pair, ns] : together_ns_) {
    const auto low = static_cast<std::uint32_t>(pair >> 32), high = static_cast<std::uint32_t>(pair);
    const double either_ns = alone_ns_.at(low) + alone_ns_.at(high) - ns;
    if (ns < kTogether * either_ns) continue;
    for (const std::uint32_t path : {low, high}) first.emplace(path, path);
    const auto [least, most] = std::minmax({root(low), root(high)});
    first[most] = least;
  }
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_first;
  for (const auto& [path, other] : first) by_first[root(path)].push_back(path);
  std::vector<std::vector<std::uint32_t>> out;
  for (auto& [path, members] : by_first) {
    std::sort(members.begin(), members.end());
    out.push_back(std::move(members));
  }
  return out;
}

}  // namespace rangefinder
