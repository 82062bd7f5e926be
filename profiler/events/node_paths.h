// SPDX-License-Identifier: Apache-2.0
//
// Where the nodes of CUDA graphs were created: captured kernels belong to the module that
// issued them, not to the one that replays the graph.
//
//   GraphNodes ─┬─ NodePaths: nodes 0 … 41 ─▶ path A, 42 … 99 ─▶ path B
//               └─ holders:   node 3 ─▶ GraphNodes of a child graph or a conditional's body
//
//   LaunchedGraph: an executable as it was launched ─▶ GraphNodes, and where in them each number is
//
// CUPTI numbers an executable's nodes in one list: those of the graph, then those of each child
// and body without gaps (docs/internals/graph-callbacks.md). An update exchanges `now` and keeps the list; it
// pairs nodes in the order of their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace rangefinder {

/// What the record of a node takes from its creation.
struct NodeOrigin {
  std::uint32_t path = 0;    ///< 0: created outside of any range
  std::uint32_t kernel = 0;  ///< NameTable id; 0: the record has the right name itself
  std::uint64_t range = 0;
  bool known = false;  ///< false: created before we were notified; or, if it does not work, no node
  bool works = false;  ///< it holds no graph
  friend bool operator==(const NodeOrigin&, const NodeOrigin&) = default;
};

/// Origins by node number. Consecutive nodes of the same origin are stored once.
class NodePaths {
 public:
  struct Run {
    std::uint32_t first = 0;  ///< it ends where the next one begins
    NodeOrigin origin;
  };

  /// Throws bad_alloc, and changes nothing then.
  void set(std::uint32_t number, const NodeOrigin& origin);
  /// Equal to NodeOrigin() for a number without a node.
  [[nodiscard]] NodeOrigin at(std::uint32_t number) const noexcept;
  /// One more than the highest number.
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] const std::vector<Run>& runs() const noexcept { return runs_; }
  // Numbers of destroyed nodes stay free: some lists of CUPTI skip them.
  [[nodiscard]] std::uint32_t nodes() const noexcept { return rank(size_); }
  /// Nodes with a lower number.
  [[nodiscard]] std::uint32_t rank(std::uint32_t number) const noexcept;
  /// NodeOrigin() beyond the last one.
  [[nodiscard]] NodeOrigin at_rank(std::uint32_t rank) const noexcept;
  /// The ranges of an earlier window have no lines in the next one.
  void forget_ranges() noexcept;

 private:
  [[nodiscard]] std::size_t run_of(std::uint32_t number) const noexcept;

  std::vector<Run> runs_;  // in order, without gaps
  std::uint32_t size_ = 0;
};

struct GraphNodes {
  struct Held {
    std::uint32_t graph = 0;  ///< CUPTI's id
    std::shared_ptr<GraphNodes> nodes;
  };
  struct Holder {
    std::uint32_t number = 0;  ///< of the node
    bool conditional = false;
    std::vector<Held> graphs;
  };
  NodePaths paths;
  std::vector<Holder> holders;  ///< nodes that hold a child graph, or the bodies of a conditional

  /// Among its own nodes.
  [[nodiscard]] bool has_conditionals() const noexcept;
  /// Of all graphs in it, too.
  void forget_ranges() noexcept;
  [[nodiscard]] Holder* holder(std::uint32_t number) noexcept;
  [[nodiscard]] const Holder* holder(std::uint32_t number) const noexcept;
};

/// Which graph the nodes from a number on belong to.
struct NodeSegment {
  std::uint32_t first = 0;
  std::uint32_t parent = 0;          ///< index of the segment with the node that holds the graph
  std::uint32_t holder = 0;          ///< number of that node in its graph
  std::uint32_t place = 0;           ///< among the graphs of that node
  std::shared_ptr<GraphNodes> made;  ///< at the instantiation: used if an update's graph has none there
};

class LaunchedGraph {
 public:
  /// `made`: as instantiated; nullptr: unknown. `children`: by `first`; their parents count from 1, 0 is the
  /// graph itself.
  LaunchedGraph(std::uint64_t id, std::uint32_t executable, std::shared_ptr<const GraphNodes> now,
                std::shared_ptr<const GraphNodes> made,
                std::shared_ptr<const std::vector<NodeSegment>> children,
                std::shared_ptr<const std::vector<std::uint32_t>> renamed, bool has_bodies) noexcept
      : id_(id),
        executable_(executable),
        now_(std::move(now)),
        made_(std::move(made)),
        children_(std::move(children)),
        renamed_(std::move(renamed)),
        has_bodies_(has_bodies) {}

  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  /// CUPTI's id, as in the records of its nodes.
  [[nodiscard]] std::uint32_t executable() const noexcept { return executable_; }
  /// It has conditional nodes: a launch may have no record, and those of bodies name no launch.
  [[nodiscard]] bool has_bodies() const noexcept { return has_bodies_; }
  [[nodiscard]] NodeOrigin at(std::uint32_t number) const noexcept;
  /// `visit(NodeOrigin)` for the origins of all nodes; several nodes may share one.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const NodePaths::Run& run : now_->paths.runs()) visit(run.origin);
    for (std::size_t i = 0; children_ != nullptr && i < children_->size(); ++i)
      for (const NodePaths::Run& run : graph(i + 1).paths.runs()) visit(run.origin);
  }
  /// Origins by the numbers of the records, in one list.
  [[nodiscard]] NodePaths flat() const;

 private:
  /// The graph of a segment.
  [[nodiscard]] const GraphNodes& graph(std::size_t segment) const noexcept;
  [[nodiscard]] const GraphNodes* updated(std::size_t segment) const noexcept;

  std::uint64_t id_;
  std::uint32_t executable_;
  std::shared_ptr<const GraphNodes> now_, made_;
  std::shared_ptr<const std::vector<NodeSegment>> children_;   // nullptr: none
  std::shared_ptr<const std::vector<std::uint32_t>> renamed_;  // nodes with another function; or nullptr
  bool has_bodies_;
};

}  // namespace rangefinder
