// SPDX-License-Identifier: Apache-2.0
//
// The range in which each node of a CUDA graph was made: captured kernels belong to
// the module that issued them, not to the one that replays the graph.
//
//   GRAPHNODE_CREATED (capturing thread, path) ─▶ node 7: path A
//   GRAPHNODE_CLONED  (instantiation) 7 ─▶ 19  ─▶ node 19: path A      kernel record: node 19
//
// Bounded: the youngest kMaxNodes. Drain thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "profiler/drain/launch_table.h"

namespace rangefinder {

class GraphNodes {
 public:
  static constexpr std::size_t kMaxNodes = std::size_t{1} << 20;

  /// `original`: the node it was cloned from, 0 for a new one. A clone takes its original's
  /// origin; `origin` is that of the calling thread and counts for new nodes.
  void add(std::uint64_t node, std::uint64_t original, const LaunchOrigin& origin);

  /// Its path is 0 where it was made outside of any range. nullptr: it was made before we came.
  [[nodiscard]] const LaunchOrigin* find(std::uint64_t node) const;

 private:
  std::unordered_map<std::uint64_t, LaunchOrigin> origins_;
  std::deque<std::uint64_t> order_;  // oldest first
};

}  // namespace rangefinder
