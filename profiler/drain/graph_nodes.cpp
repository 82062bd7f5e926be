// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/graph_nodes.h"

namespace rangefinder {

void GraphNodes::add(std::uint64_t node, std::uint64_t original, const LaunchOrigin& origin) {
  LaunchOrigin from = origin;
  const auto [common, first] = common_paths_.try_emplace(static_cast<std::uint32_t>(node >> 32), 0);
  if (original != 0) {
    const LaunchOrigin* const known = find(original);
    if (known == nullptr) {  // created before we were notified
      common->second = 0;
      return;
    }
    from = *known;
  }
  common->second = first ? from.path : common_of(common->second, from.path);
  if (origins_.insert_or_assign(node, from).second) order_.push_back(node);
  if (order_.size() > kMaxNodes) {
    origins_.erase(order_.front());
    common_paths_.erase(static_cast<std::uint32_t>(order_.front() >> 32));
    order_.pop_front();
  }
}

std::uint32_t GraphNodes::common_of(std::uint32_t a, std::uint32_t b) const {
  while (a != b) {  // a parent's id is smaller than its child's
    std::uint32_t& deeper = a > b ? a : b;
    deeper = paths_.node(deeper).parent;
  }
  return a;
}

std::uint32_t GraphNodes::common_path(std::uint32_t graph) const {
  const auto at = common_paths_.find(graph);
  return at == common_paths_.end() ? 0 : at->second;
}

const LaunchOrigin* GraphNodes::find(std::uint64_t node) const {
  const auto at = origins_.find(node);
  return at == origins_.end() ? nullptr : &at->second;
}

}  // namespace rangefinder
