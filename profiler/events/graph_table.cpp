// SPDX-License-Identifier: Apache-2.0
#include "profiler/events/graph_table.h"

#include <algorithm>
#include <utility>

#include "profiler/guest/host_lock.h"

namespace rangefinder {
namespace {

constexpr std::uint32_t kNoSegment = UINT32_MAX;

std::uint32_t graph_of_node(std::uint64_t node) noexcept {
  return static_cast<std::uint32_t>(node >> 32);
}
std::uint32_t number_of(std::uint64_t node) noexcept {
  return static_cast<std::uint32_t>(node);
}

}  // namespace

template <typename Change>
void GraphTable::locked(Change&& change) noexcept {
  try {
    const HostLock lock(mutex_);
    if (lock) return change();
  } catch (...) {
  }
  loss_.add(Loss::record_sink_errors);
}

GraphTable::Graph& GraphTable::graph_of(std::uint32_t id) {
  Graph& graph = graphs_[id];
  if (graph.nodes == nullptr) graph.nodes = std::make_shared<GraphNodes>();
  return graph;
}

GraphTable::Graph* GraphTable::known(std::uint32_t graph) noexcept {
  const auto at = graphs_.find(graph);
  return at == graphs_.end() || at->second.nodes == nullptr ? nullptr : &at->second;
}

NodeOrigin GraphTable::origin_of(std::uint64_t node) noexcept {
  const Graph* const graph = known(graph_of_node(node));
  return graph == nullptr ? NodeOrigin() : graph->nodes->paths.at(number_of(node));
}

GraphNodes& GraphTable::writable(std::uint32_t id) {
  Graph& graph = graph_of(id);
  GraphNodes* above = nullptr;
  if (graph.parent != 0 && known(graph.parent) != nullptr)
    above = &writable(graph.parent);  // marks this graph as shared if it was copied
  if (!graph.shared) return *graph.nodes;
  graph.nodes = std::make_shared<GraphNodes>(*graph.nodes);
  graph.shared = false;
  GraphNodes::Holder* const holder = above == nullptr ? nullptr : above->holder(graph.holder);
  if (holder != nullptr && graph.place < holder->graphs.size())
    holder->graphs[graph.place].nodes = graph.nodes;
  for (const GraphNodes::Holder& each : graph.nodes->holders) {
    for (const GraphNodes::Held& held : each.graphs) {
      if (Graph* const child = known(held.graph)) child->shared = true;
    }
  }
  return *graph.nodes;
}

void GraphTable::graph_created(GraphCalls& calls, std::uint32_t graph) noexcept {
  calls.instantiating = 0;  // CUDA creates its own graphs before
  locked([&] {
    graph_of(graph).has_next = true;
    calls.not_held.push_back(graph);
  });
}

// No callback says that an instantiation failed. The nodes after it are of other graphs.
bool GraphTable::is_of_cuda(GraphCalls& calls, std::uint32_t graph) noexcept {
  calls.last_node = 0;
  if (calls.instantiating != graph) calls.instantiating = 0;
  return calls.instantiating != 0;
}

void GraphTable::node_created(GraphCalls& calls, std::uint64_t node, const NodeOrigin& origin) noexcept {
  if (is_of_cuda(calls, graph_of_node(node))) return;
  locked([&] { add_node(calls, node, origin); });
}

bool GraphTable::next_node_created(GraphCalls& calls, std::uint32_t graph,
                                   const NodeOrigin& origin) noexcept {
  if (is_of_cuda(calls, graph)) return true;
  bool known_number = false;
  locked([&] {
    const Graph* const of = known(graph);
    if (of == nullptr || !of->has_next) return;
    known_number = true;
    add_node(calls, std::uint64_t{graph} << 32 | of->next, origin);
  });
  return known_number;
}

void GraphTable::add_node(GraphCalls& calls, std::uint64_t node, const NodeOrigin& origin) {
  Graph& graph = graph_of(graph_of_node(node));
  NodePaths& paths = writable(graph_of_node(node)).paths;
  calls.displaced = paths.at(number_of(node));
  paths.set(number_of(node), origin);
  graph.next = number_of(node) + 1;
  graph.has_next = true;
  calls.last_node = node;
  calls.last_held.clear();
  if (!calls.not_held.empty()) hold_new_graphs(calls, graph_of_node(node), number_of(node));
}

// CUPTI does not say what a node is. Graphs that were created after the node's own, and that no node holds
// yet, are its child or its bodies. Bodies are empty at first.
void GraphTable::hold_new_graphs(GraphCalls& calls, std::uint32_t graph, std::uint32_t number) {
  std::vector<std::uint32_t>& waiting = calls.not_held;
  const auto own = std::find(waiting.rbegin(), waiting.rend(), graph);
  const auto first = own.base();
  if (first == waiting.end()) return;
  GraphNodes& nodes = *graph_of(graph).nodes;
  GraphNodes::Holder holder{number, true, {}};
  for (auto at = first; at != waiting.end(); ++at) {
    Graph& held = graph_of(*at);
    held.parent = graph;
    held.holder = number;
    held.place = static_cast<std::uint32_t>(at - first);
    holder.conditional &= held.nodes->paths.size() == 0;
    holder.graphs.push_back({*at, held.nodes});
  }
  NodeOrigin origin = nodes.paths.at(number);
  origin.works = false;
  nodes.paths.set(number, origin);
  nodes.holders.push_back(std::move(holder));
  calls.last_held.assign(first, waiting.end());
  waiting.erase(first, waiting.end());
}

void GraphTable::node_cloned(GraphCalls& calls, std::uint64_t node, std::uint64_t original) noexcept {
  locked([&] {
    NodeOrigin origin = origin_of(original);
    if (!origin.known) origin.works = true;  // created before we were notified
    const std::uint32_t number = number_of(node), created = number_of(calls.last_node);
    GraphNodes& nodes = writable(graph_of_node(node));
    if (calls.last_node == 0 || graph_of_node(calls.last_node) != graph_of_node(node)) return;
    if (created != number) nodes.paths.set(created, calls.displaced);
    if (!calls.last_held.empty()) {
      // Not by number: an earlier node may have got the number that this one was created with.
      GraphNodes::Holder& holder = nodes.holders.back();
      holder.number = number;
      for (const std::uint32_t held : calls.last_held) graph_of(held).holder = number;
      const Graph* const from = known(graph_of_node(original));
      const GraphNodes::Holder* const cloned =
          from == nullptr ? nullptr : std::as_const(*from->nodes).holder(number_of(original));
      if (cloned != nullptr) holder.conditional = cloned->conditional;
    }
    nodes.paths.set(number, origin);
    calls.last_node = 0;
  });
}

void GraphTable::graph_destroyed(GraphCalls& calls, std::uint32_t graph) noexcept {
  destroyed_.fetch_add(1, std::memory_order_release);
  locked([&] {
    const Graph* const gone = known(graph);
    if (gone == nullptr) return;
    if (calls.instantiating != 0) append_child(calls, graph, *gone);
    std::erase(calls.not_held, graph);
    graphs_.erase(graph);
  });
}

void GraphTable::append_child(GraphCalls& calls, std::uint32_t id, const Graph& child) {
  NodeSegment segment;
  segment.first = calls.nodes;
  const auto parent = std::find(calls.flattened.begin(), calls.flattened.end(), child.parent);
  if (child.parent != calls.instantiating)
    segment.parent = parent == calls.flattened.end()
                         ? kNoSegment
                         : static_cast<std::uint32_t>(parent - calls.flattened.begin()) + 1;
  segment.holder = child.holder;
  segment.place = child.place;
  segment.made = child.nodes;
  calls.nodes += child.nodes->paths.nodes();
  calls.flattened.push_back(id);
  calls.children.push_back(std::move(segment));
}

void GraphTable::instantiation_begins(GraphCalls& calls, std::uint32_t executable) noexcept {
  locked([&] {
    calls.instantiating = executable;
    forget_own_graphs(calls, executable);
    calls.flattened.clear();
    calls.children.clear();
    calls.nodes = graph_of(executable).nodes->paths.size();
  });
}

// CUDA creates graphs of its own, which nothing names later.
void GraphTable::forget_own_graphs(const GraphCalls& calls, std::uint32_t executable) {
  const auto own = std::find(calls.not_held.begin(), calls.not_held.end(), executable);
  if (own == calls.not_held.end()) return;
  for (auto at = own + 1; at != calls.not_held.end(); ++at) {
    const Graph* const graph = known(*at);
    for (std::size_t i = 0; graph != nullptr && i < graph->nodes->holders.size(); ++i)
      for (const GraphNodes::Held& held : graph->nodes->holders[i].graphs) graphs_.erase(held.graph);
    graphs_.erase(*at);
  }
}

void GraphTable::instantiated(GraphCalls& calls, std::uint32_t executable) noexcept {
  calls.instantiating = 0;
  calls.not_held.clear();
  locked([&] {
    Graph& graph = graph_of(executable);
    graph.shared = true;
    Executable made;
    made.now = made.made = graph.nodes;
    made.has_bodies = graph.nodes->has_conditionals();
    for (const NodeSegment& child : calls.children) made.has_bodies |= child.made->has_conditionals();
    if (!calls.children.empty())
      made.children = std::make_shared<const std::vector<NodeSegment>>(std::move(calls.children));
    calls.children.clear();
    executables_.insert_or_assign(executable, std::move(made));
  });
}

void GraphTable::executable_destroyed(std::uint32_t executable) noexcept {
  locked([&] {
    const auto at = executables_.find(executable);
    if (at == executables_.end()) return;
    replaced(at->second);
    executables_.erase(at);
  });
}

void GraphTable::updated(std::uint32_t executable, std::uint32_t graph) noexcept {
  locked([&] {
    Graph& with = graph_of(graph);
    Executable& changed = executables_[executable];
    replaced(changed);
    with.shared = true;
    changed.now = with.nodes;
    changed.renamed = nullptr;
  });
}

void GraphTable::child_updated(std::uint32_t executable, std::uint64_t holder, std::uint32_t graph) noexcept {
  locked([&] {
    const auto at = executables_.find(executable);
    if (at == executables_.end()) return;
    std::vector<Step> way = way_to(graph_of_node(holder));
    const auto root = std::make_shared<GraphNodes>(*at->second.now);
    GraphNodes* inside = root.get();
    for (; !way.empty(); way.pop_back()) {
      GraphNodes::Holder* const above = inside->holder(way.back().holder);
      if (above == nullptr || way.back().place >= above->graphs.size()) return;
      std::shared_ptr<GraphNodes>& nodes = above->graphs[way.back().place].nodes;
      nodes = std::make_shared<GraphNodes>(*nodes);
      inside = nodes.get();
    }
    GraphNodes::Holder* const replaced_in = inside->holder(number_of(holder));
    if (replaced_in == nullptr || replaced_in->graphs.empty()) return;
    Graph& with = graph_of(graph);
    with.shared = true;
    replaced_in->graphs.front().nodes = with.nodes;
    replaced(at->second);
    at->second.now = root;
  });
}

LaunchedGraph GraphTable::as_launched(std::uint64_t id, std::uint32_t number,
                                      const Executable& executable) noexcept {
  return {id,
          number,
          executable.now,
          executable.made,
          executable.children,
          executable.renamed,
          executable.has_bodies};
}

std::vector<GraphTable::Step> GraphTable::way_to(std::uint32_t graph) noexcept {
  std::vector<Step> way;
  for (const Graph* in = known(graph); in != nullptr && in->parent != 0; in = known(in->parent))
    way.push_back({in->holder, in->place});
  return way;
}

std::uint32_t GraphTable::number_in(const Executable& executable, std::uint64_t node) {
  std::vector<Step> way = way_to(graph_of_node(node));
  std::uint32_t segment = 0;  // counts from 1, as NodeSegment::parent
  for (; !way.empty() && executable.children != nullptr; way.pop_back()) {
    const std::vector<NodeSegment>& children = *executable.children;
    const auto at = std::find_if(children.begin(), children.end(), [&](const NodeSegment& child) {
      return child.parent == segment && child.holder == way.back().holder && child.place == way.back().place;
    });
    if (at == children.end()) break;
    segment = static_cast<std::uint32_t>(at - children.begin()) + 1;
  }
  if (segment == 0) return number_of(node);
  const NodeSegment& child = (*executable.children)[segment - 1];
  return child.first + child.made->paths.rank(number_of(node));
}

void GraphTable::function_set(std::uint64_t node) noexcept {
  locked([&] {
    NodeOrigin origin = origin_of(node);
    if (origin.kernel == 0) return;
    origin.kernel = 0;
    writable(graph_of_node(node)).paths.set(number_of(node), origin);
  });
}

void GraphTable::function_set(std::uint32_t executable, std::uint64_t node) noexcept {
  locked([&] {
    const auto at = executables_.find(executable);
    if (at == executables_.end()) return;
    const std::uint32_t number = number_in(at->second, node);
    if (as_launched(0, 0, at->second).at(number).kernel == 0) return;
    std::vector<std::uint32_t> renamed;
    if (at->second.renamed != nullptr) renamed = *at->second.renamed;
    renamed.push_back(number);
    replaced(at->second);
    at->second.renamed = std::make_shared<const std::vector<std::uint32_t>>(std::move(renamed));
  });
}

void GraphTable::replaced(Executable& executable) {
  const std::uint64_t id = std::exchange(executable.launched, 0);
  if (id == 0) return;
  if (!reading_) {
    launched_.erase(id);
  } else {
    replaced_.push_back(id);
  }
}

std::uint64_t GraphTable::launched(std::uint32_t executable) noexcept {
  std::uint64_t id = 0;
  locked([&] {
    const auto at = executables_.find(executable);
    if (at == executables_.end() || !reading_) return;
    if (at->second.launched == 0) {
      launched_.emplace(next_id_,
                        std::make_shared<const LaunchedGraph>(as_launched(next_id_, executable, at->second)));
      at->second.launched = next_id_++;
    }
    id = at->second.launched;
  });
  return id;
}

std::shared_ptr<const LaunchedGraph> GraphTable::find(std::uint64_t id) noexcept {
  std::shared_ptr<const LaunchedGraph> found;
  locked([&] {
    const auto at = launched_.find(id);
    if (at != launched_.end()) found = at->second;
  });
  return found;
}

NodeOrigin GraphTable::origin(std::uint64_t node) noexcept {
  NodeOrigin found;
  locked([&] { found = origin_of(node); });
  return found;
}

std::shared_ptr<const LaunchedGraph> GraphTable::graph(std::uint32_t graph) noexcept {
  std::shared_ptr<const LaunchedGraph> found;
  locked([&] {
    Graph* const at = known(graph);
    if (at == nullptr) return;
    at->shared = true;
    found = std::make_shared<const LaunchedGraph>(0, graph, at->nodes, nullptr, nullptr, nullptr, false);
  });
  return found;
}

void GraphTable::add(std::shared_ptr<const LaunchedGraph> launched) noexcept {
  locked([&] {
    const std::uint64_t id = launched->id();
    launched_.insert_or_assign(id, std::move(launched));
  });
}

void GraphTable::begin_reading() noexcept {
  locked([&] {
    reading_ = true;
    for (auto& [id, graph] : graphs_) {
      if (graph.nodes != nullptr) graph.nodes->paths.forget_ranges();
    }
    for (auto& [id, executable] : executables_) {
      executable.now->forget_ranges();
      for (std::size_t i = 0; executable.children != nullptr && i < executable.children->size(); ++i)
        (*executable.children)[i].made->forget_ranges();
    }
  });
}

void GraphTable::end_reading() noexcept {
  locked([&] {
    reading_ = false;
    launched_.clear();
    replaced_.clear();
    for (auto& [id, executable] : executables_) executable.launched = 0;
  });
}

std::uint64_t GraphTable::mark() noexcept {
  std::uint64_t mark = 0;
  locked([&] { mark = forgotten_ + replaced_.size(); });
  return mark;
}

void GraphTable::forget(std::uint64_t mark) noexcept {
  locked([&] {
    for (; forgotten_ < mark && !replaced_.empty(); ++forgotten_) {
      launched_.erase(replaced_.front());
      replaced_.pop_front();
    }
  });
}

}  // namespace rangefinder
