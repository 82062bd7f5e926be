// SPDX-License-Identifier: Apache-2.0
#include "profiler/launch/graph_callbacks.h"

#include "profiler/launch/driver_apis.h"

namespace rangefinder {
// CUPTI's ids begin with 1; 0: unknown.
std::uint32_t GraphCallbacks::id_of(CUgraph graph) const noexcept {
  std::uint32_t id = 0;
  return graph != nullptr && cupti_.GetGraphId(graph, &id) == CUPTI_SUCCESS ? id : 0;
}

std::uint32_t GraphCallbacks::id_of(CUgraphExec executable) const noexcept {
  std::uint32_t id = 0;
  return executable != nullptr && cupti_.GetGraphExecId(executable, &id) == CUPTI_SUCCESS ? id : 0;
}

std::uint64_t GraphCallbacks::id_of(CUgraphNode node) const noexcept {
  std::uint64_t id = 0;
  return node != nullptr && cupti_.GetGraphNodeId(node, &id) == CUPTI_SUCCESS ? id : 0;
}

// CUPTI's query takes as long as all the rest of a node's callback. The nodes of a capture come one after the
// other.
std::uint32_t GraphCallbacks::cached_id_of(ThreadState& state, CUgraph graph) const noexcept {
  ThreadState::LastGraph& last = state.last_graph();
  const std::uint32_t destroyed = recorder_.graphs.destroyed();
  if (last.handle != graph || last.destroyed != destroyed) last = {graph, id_of(graph), destroyed};
  return last.id;
}

void GraphCallbacks::node_created(ThreadState& state, const CUpti_GraphData& data) noexcept {
  const ThreadState::Place place = state.place();
  state.note_captured();
  NodeOrigin origin;
  origin.path = place.path;
  origin.range = place.range;
  origin.kernel = state.captured_kernel();
  origin.known = true;
  origin.works = true;  // nodeType is 0 for all nodes (CUPTI 13.0)
  GraphCalls& calls = state.graph_calls();
  if (recorder_.graphs.next_node_created(calls, cached_id_of(state, data.graph), origin)) return;
  recorder_.graphs.node_created(calls, id_of(data.node), origin);
}

void GraphCallbacks::on_resource(CUpti_CallbackId cbid, const CUpti_GraphData& data) noexcept {
  const ThreadUse state = recorder_.threads.use();
  if (!state) return;
  if (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED) return node_created(*state, data);
  graph_changed(*state, cbid, data);
  state->emit_lock_wait();
}

void GraphCallbacks::graph_changed(ThreadState& state, CUpti_CallbackId cbid,
                                   const CUpti_GraphData& data) noexcept {
  GraphTable& graphs = recorder_.graphs;
  GraphCalls& calls = state.graph_calls();
  switch (cbid) {
    case CUPTI_CBID_RESOURCE_GRAPH_CREATED:
      return graphs.graph_created(calls, id_of(data.graph));
    case CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING:
      return graphs.graph_destroyed(calls, id_of(data.graph));
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED:
      return graphs.node_cloned(calls, id_of(data.node), id_of(data.originalNode));
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING:
      return graphs.instantiation_begins(calls, id_of(data.graphExec));
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED:
      return graphs.instantiated(calls, id_of(data.graphExec));
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING:
      return graphs.executable_destroyed(id_of(data.graphExec));
    default:
      return;
  }
}

void GraphCallbacks::on_call(CUpti_CallbackId cbid, const void* params) noexcept {
  called(read_graph_call(cbid, params));
  recorder_.threads.emit_lock_wait();
}

void GraphCallbacks::called(const GraphCall& call) noexcept {
  switch (call.kind) {
    case GraphCall::Kind::create:
      if (const ThreadUse state = recorder_.threads.use())
        recorder_.graphs.graph_stands_alone(state->graph_calls());
      return;
    case GraphCall::Kind::update:
      return recorder_.graphs.updated(id_of(call.executable), id_of(call.graph));
    case GraphCall::Kind::update_child:
      return recorder_.graphs.child_updated(id_of(call.executable), id_of(call.node), id_of(call.graph));
    case GraphCall::Kind::set_function:
      if (call.executable == nullptr) return recorder_.graphs.function_set(id_of(call.node));
      return recorder_.graphs.function_set(id_of(call.executable), id_of(call.node));
    case GraphCall::Kind::allow_device_launch:
      if (!device_launches_recorded_.load(std::memory_order_relaxed))
        recorder_.loss.add(Loss::graphs_launched_on_device);
      return;
    case GraphCall::Kind::none:
      return;
  }
}

std::uint64_t GraphCallbacks::launched(CUgraphExec executable) noexcept {
  return recorder_.graphs.launched(id_of(executable));
}

}  // namespace rangefinder
