// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/graph_nodes.h"

namespace rangefinder {

void GraphNodes::add(std::uint64_t node, std::uint64_t original, const LaunchOrigin& origin) {
  LaunchOrigin from = origin;
  if (original != 0) {
    const LaunchOrigin* const known = find(original);
    if (known == nullptr) return;  // created before we were notified
    from = *known;
  }
  if (origins_.insert_or_assign(node, from).second) order_.push_back(node);
  if (order_.size() > kMaxNodes) {
    origins_.erase(order_.front());
    order_.pop_front();
  }
}

const LaunchOrigin* GraphNodes::find(std::uint64_t node) const {
  const auto at = origins_.find(node);
  return at == origins_.end() ? nullptr : &at->second;
}

}  // namespace rangefinder
