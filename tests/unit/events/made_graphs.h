// SPDX-License-Identifier: Apache-2.0
//
// The callbacks of graphs that a program makes, in the order of docs/internals/graph-callbacks.md.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "profiler/events/graph_table.h"
#include "tests/catch.h"

namespace rangefinder::test {

inline NodeOrigin origin(std::uint32_t path, std::uint32_t kernel = 0) {
  return {path, kernel, path * 100ULL, true, true};
}

/// One thread's calls.
class MadeGraphs {
 public:
  explicit MadeGraphs(GraphTable& of) : table(of) { table.begin_reading(); }

  std::uint32_t create() {
    const std::uint32_t id = ++next();
    table.graph_created(calls, id);
    return id;
  }
  /// As a capture does.
  std::uint32_t capture(const std::vector<std::uint32_t>& paths) {
    const std::uint32_t graph = create();
    table.graph_stands_alone(calls);
    for (const std::uint32_t path : paths) {
      nodes_[graph].push_back({std::uint64_t{graph} << 32 | nodes_[graph].size(), {}, false});
      CHECK(table.next_node_created(calls, graph, origin(path)));
    }
    return graph;
  }
  std::uint64_t add(std::uint32_t graph, const NodeOrigin& made) {
    std::vector<Node>& nodes = nodes_[graph];
    const std::uint64_t id = std::uint64_t{graph} << 32 | nodes.size();
    nodes.push_back({id, {}, false});
    table.node_created(calls, id, made);
    return id;
  }
  std::uint64_t add_child(std::uint32_t graph, std::uint32_t child) {
    const std::uint32_t copy = clone(child);
    const std::uint64_t node = add(graph, origin(0));
    nodes_[graph].back().graphs = {copy};
    return node;
  }
  /// A conditional node with `count` bodies: their ids.
  std::vector<std::uint32_t> add_conditional(std::uint32_t graph, int count) {
    std::vector<std::uint32_t> bodies;
    for (int i = 0; i < count; ++i) bodies.push_back(create());
    add(graph, origin(0));
    nodes_[graph].back().graphs = bodies;
    return bodies;
  }
  /// Destroys the node at `number`: a clone's nodes are created without gaps, and get the numbers of the
  /// original then.
  void lose(std::uint32_t graph, std::size_t number) { nodes_[graph][number].lost = true; }
  std::uint32_t clone(std::uint32_t graph) {
    const std::uint32_t copy = create();
    std::uint32_t created = 0;
    for (Node node : std::vector<Node>(nodes_[graph])) {
      for (std::uint32_t& inner : node.graphs) inner = clone(inner);
      const std::uint64_t original = node.id;
      node.id = std::uint64_t{copy} << 32 | static_cast<std::uint32_t>(original);
      nodes_[copy].push_back(node);
      if (node.lost) continue;
      table.node_created(calls, std::uint64_t{copy} << 32 | created++, origin(99));
      table.node_cloned(calls, node.id, original);
    }
    return copy;
  }
  std::uint32_t instantiate(std::uint32_t graph) {
    const std::uint32_t executable = clone(graph), own = create();
    create();
    table.node_created(calls, std::uint64_t{own} << 32, origin(97));  // CUDA's own graphs
    table.instantiation_begins(calls, executable);
    std::vector<std::uint32_t> graphs{executable};
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      if (i != 0) table.graph_destroyed(calls, graphs[i]);
      for (const Node& node : nodes_[graphs[i]])
        graphs.insert(graphs.end(), node.graphs.begin(), node.graphs.end());
    }
    table.node_created(calls, std::uint64_t{executable} << 32 | 70, origin(98));
    table.instantiated(calls, executable);
    return executable;
  }
  /// The graph in the last node of `graph`.
  std::uint32_t child_of(std::uint32_t graph) { return nodes_[graph].back().graphs.front(); }
  void destroy(std::uint32_t graph) { table.graph_destroyed(calls, graph); }
  /// Paths of the numbers 0 … `count` - 1.
  std::vector<std::uint32_t> launch(std::uint32_t executable, std::uint32_t count) {
    const auto launched = table.find(table.launched(executable));
    REQUIRE(launched);
    CHECK(launched->executable() == executable);
    std::vector<std::uint32_t> paths;
    for (std::uint32_t i = 0; i < count; ++i) paths.push_back(launched->at(i).path);
    return paths;
  }

  GraphTable& table;
  GraphCalls calls;

 private:
  struct Node {
    std::uint64_t id;
    std::vector<std::uint32_t> graphs;
    bool lost = false;
  };
  /// Of all threads.
  static std::uint32_t& next() {
    static std::uint32_t last = 0;
    return last;
  }
  std::map<std::uint32_t, std::vector<Node>> nodes_;
};

}  // namespace rangefinder::test
