// SPDX-License-Identifier: Apache-2.0
//
// The living CUDA graphs and executables of the process, from CUPTI's callbacks:
//
//   node created (path)  ─▶ graph ─── instantiated ─▶ executable ── launched() ─▶ id of a LaunchedGraph
//   node cloned          ─▶ graph                        ▲                            │  in the launch's
//   event child graph, bodies  ─▶ graph in a node              │                            ▼ updated with a
//   graph ────────────────────────────────┘              drain thread: find(id) ─▶ origin of a node
//
// Records come after later updates, so each launch keeps what it launched. A graph that is shared in
// this way is copied before it changes. Destroyed graphs and executables free what they hold; a LaunchedGraph
// that was replaced lasts until the drain thread has read the events that name it.
//
// Any thread, with a short lock. Throws nothing: what does not fit into memory is unknown later, and counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "profiler/events/node_paths.h"
#include "profiler/guest/host_mutex.h"
#include "schema/loss.h"

namespace rangefinder {

/// What the calling thread's callbacks have begun: CUPTI describes one change by several.
struct GraphCalls {
  std::vector<std::uint32_t> not_held;   ///< graphs created, for the node that will hold them
  std::uint32_t instantiating = 0;       ///< executable that is being created; 0: none
  std::vector<std::uint32_t> flattened;  ///< graphs that became part of it, in order
  std::vector<NodeSegment> children;
  std::uint32_t nodes = 0;      ///< of it so far
  std::uint64_t last_node = 0;  ///< created last, what had its number before, and the graphs that it holds
  NodeOrigin displaced;
  std::vector<std::uint32_t> last_held;
};

class GraphTable {
 public:
  explicit GraphTable(LossLedger& loss) noexcept : loss_(loss) {}

  // Application threads, in the order of their callbacks. Ids are CUPTI's; a node's is that of its graph in
  // the upper half and its number in the lower.
  void graph_created(GraphCalls& calls, std::uint32_t graph) noexcept;
  /// A graph that no node will hold: by cuGraphCreate, a capture or cuGraphClone.
  void graph_stands_alone(GraphCalls& calls) noexcept { calls.not_held.clear(); }
  void node_created(GraphCalls& calls, std::uint64_t node, const NodeOrigin& origin) noexcept;
  /// The same without its number, which costs a query: the next one of its graph. False: that is unknown.
  [[nodiscard]] bool next_node_created(GraphCalls& calls, std::uint32_t graph,
                                       const NodeOrigin& origin) noexcept;
  /// After node_created(): takes the number and the origin of `original`.
  void node_cloned(GraphCalls& calls, std::uint64_t node, std::uint64_t original) noexcept;
  void graph_destroyed(GraphCalls& calls, std::uint32_t graph) noexcept;
  void instantiation_begins(GraphCalls& calls, std::uint32_t executable) noexcept;
  void instantiated(GraphCalls& calls, std::uint32_t executable) noexcept;
  void executable_destroyed(std::uint32_t executable) noexcept;
  /// The executable runs the nodes of `graph` from now on.
  void updated(std::uint32_t executable, std::uint32_t graph) noexcept;
  /// `holder`, of the graph that was instantiated, runs `graph` from now on.
  void child_updated(std::uint32_t executable, std::uint64_t holder, std::uint32_t graph) noexcept;
  // A node of a graph, or what became of it in an executable, has another function: the record has its name.
  void function_set(std::uint64_t node) noexcept;
  void function_set(std::uint32_t executable, std::uint64_t node) noexcept;
  /// Id of what a launch of `executable` launches now; 0: unknown.
  [[nodiscard]] std::uint64_t launched(std::uint32_t executable) noexcept;

  /// Changes whenever a graph is destroyed: then the driver may reuse its handle.
  [[nodiscard]] std::uint32_t destroyed() const noexcept {
    return destroyed_.load(std::memory_order_acquire);
  }

  // Drain thread.
  /// nullptr: unknown.
  [[nodiscard]] std::shared_ptr<const LaunchedGraph> find(std::uint64_t id) noexcept;
  /// Of a node of a living graph; for launches that name no LaunchedGraph.
  [[nodiscard]] NodeOrigin origin(std::uint64_t node) noexcept;
  /// The living graph, as if it had been launched; nullptr: unknown.
  [[nodiscard]] std::shared_ptr<const LaunchedGraph> graph(std::uint32_t graph) noexcept;
  /// From a recorded run.
  void add(std::shared_ptr<const LaunchedGraph> launched) noexcept;
  /// Events of launches are read, or no longer. Ranges of an earlier window are forgotten.
  void begin_reading() noexcept;
  void end_reading() noexcept;
  /// mark(), read all events, forget(): what was replaced before the mark is no longer needed.
  [[nodiscard]] std::uint64_t mark() noexcept;
  void forget(std::uint64_t mark) noexcept;

  /// For fork() only.
  [[nodiscard]] HostMutex& mutex() noexcept { return mutex_; }

 private:
  struct Graph {
    std::shared_ptr<GraphNodes> nodes;
    std::uint32_t parent = 0;  // graph with the node that holds it; 0: none does
    std::uint32_t holder = 0, place = 0;
    std::uint32_t next = 0;  // number of its next node, if has_next
    bool has_next = false;
    bool shared = false;  // with an executable or a launch: copied before it changes
  };
  struct Executable {
    std::shared_ptr<GraphNodes> now, made;
    std::shared_ptr<const std::vector<NodeSegment>> children;
    std::shared_ptr<const std::vector<std::uint32_t>> renamed;
    bool has_bodies = false;
    std::uint64_t launched = 0;  // id; 0: not since the last change
  };
  /// Runs `change` with the lock. What it throws is counted.
  template <typename Change>
  void locked(Change&& change) noexcept;
  // All below with mutex_ held.
  [[nodiscard]] Graph& graph_of(std::uint32_t id);
  [[nodiscard]] Graph* known(std::uint32_t graph) noexcept;
  [[nodiscard]] NodeOrigin origin_of(std::uint64_t node) noexcept;
  /// The nodes of `graph`, not shared with any launch.
  [[nodiscard]] GraphNodes& writable(std::uint32_t graph);
  /// Whether a new node of `graph` is one that CUDA adds to the executable that is being created.
  [[nodiscard]] static bool is_of_cuda(GraphCalls& calls, std::uint32_t graph) noexcept;
  void add_node(GraphCalls& calls, std::uint64_t node, const NodeOrigin& origin);
  /// Where the graph with this id is, in a graph that was instantiated: nodes that hold it, from the inside
  /// to the outside.
  struct Step {
    std::uint32_t holder, place;
  };
  [[nodiscard]] std::vector<Step> way_to(std::uint32_t graph) noexcept;
  [[nodiscard]] std::uint32_t number_in(const Executable& executable, std::uint64_t node);
  void forget_own_graphs(const GraphCalls& calls, std::uint32_t executable);
  void hold_new_graphs(GraphCalls& calls, std::uint32_t graph, std::uint32_t number);
  static void append_child(GraphCalls& calls, std::uint32_t id, const Graph& child);
  [[nodiscard]] static LaunchedGraph as_launched(std::uint64_t id, std::uint32_t number,
                                                 const Executable& executable) noexcept;
  /// Its next launch launches something else.
  void replaced(Executable& executable);

  LossLedger& loss_;
  HostMutex mutex_;
  std::unordered_map<std::uint32_t, Graph> graphs_;  // guarded by mutex_, as all below
  std::unordered_map<std::uint32_t, Executable> executables_;
  std::unordered_map<std::uint64_t, std::shared_ptr<const LaunchedGraph>> launched_;
  std::deque<std::uint64_t> replaced_;  // oldest first
  std::uint64_t forgotten_ = 0;         // ids that left replaced_
  std::uint64_t next_id_ = 1;
  std::atomic<std::uint32_t> destroyed_{0};
  bool reading_ = false;
};

}  // namespace rangefinder
