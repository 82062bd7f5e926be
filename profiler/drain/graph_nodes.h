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
#include "profiler/events/path_table.h"

namespace rangefinder {

class GraphNodes {
 public:
  static constexpr std::size_t kMaxNodes = std::size_t{1} << 20;

  explicit GraphNodes(const PathTable& paths) noexcept : paths_(paths) {}

  /// `original`: the node it was cloned from; 0: a new node. A clone takes its original's
  /// origin. A new node takes `origin`, that of the calling thread.
  void add(std::uint64_t node, std::uint64_t original, const LaunchOrigin& origin);

  /// Path 0: it was created outside of any range. nullptr: unknown, created before we were notified.
  [[nodiscard]] const LaunchOrigin* find(std::uint64_t node) const;
  /// `graph` has a node whose creation we were not notified of.
  void add_unseen(std::uint32_t graph) { common_paths_[graph] = 0; }
  /// The deepest path that contains the creation of all nodes of `graph`; 0: there is none, or a node is
  /// unknown.
  [[nodiscard]] std::uint32_t common_path(std::uint32_t graph) const;

 private:
  [[nodiscard]] std::uint32_t common_of(std::uint32_t a, std::uint32_t b) const;

  const PathTable& paths_;
  std::unordered_map<std::uint64_t, LaunchOrigin> origins_;
  std::unordered_map<std::uint32_t, std::uint32_t>
      common_paths_;                 // by graph: the high half of its nodes' ids
  std::deque<std::uint64_t> order_;  // oldest first
};

}  // namespace rangefinder
