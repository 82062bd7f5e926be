// SPDX-License-Identifier: Apache-2.0
//
// The range in which each node of a CUDA graph was created: captured kernels belong to
// the module that issued them, not to the one that replays the graph.
//
//   GRAPHNODE_CREATED (capturing thread, path) ─▶ node 7: path A
//   GRAPHNODE_CLONED  (instantiation) 7 ─▶ 19  ─▶ node 19: path A      kernel record: node 19
//
// Bounded: keeps the newest kMaxNodes. Drain thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "profiler/drain/launch_table.h"

namespace rangefinder {

class GraphNodes {
 public:
  static constexpr std::size_t kMaxNodes = std::size_t{1} << 20;

  /// `original`: the node it was cloned from; 0: a new node. A clone takes its original's
  /// origin. A new node takes `origin`, that of the calling thread.
  void add(std::uint64_t node, std::uint64_t original, const LaunchOrigin& origin);

  /// Path 0: it was created outside of any range. nullptr: unknown, created before we were notified.
  [[nodiscard]] const LaunchOrigin* find(std::uint64_t node) const;

 private:
  std::unordered_map<std::uint64_t, LaunchOrigin> origins_;
  std::deque<std::uint64_t> order_;  // oldest first
};

}  // namespace rangefinder
