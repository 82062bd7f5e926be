// SPDX-License-Identifier: Apache-2.0
//
// The fake driver's graphs: captured per stream, with child graphs, instantiated, updated and launched. CUPTI
// is notified as by the real driver (docs/internals/graph-callbacks.md). A graph is used by one thread at a
// time.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cupti_driver_cbid.h>
#include <generated_cuda_meta.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/injection/fake_driver.h"

namespace fake {
namespace {

struct GraphNode {
  std::unique_ptr<CUgraphNode_st> handle;
  Work work;
  std::unique_ptr<CUgraph_st> child;
};

}  // namespace
}  // namespace fake

struct CUgraph_st : fake::GraphHandle {
  std::vector<fake::GraphNode> nodes;
};
struct CUgraphExec_st : fake::GraphHandle {
  std::unique_ptr<CUgraph_st> graph;
  std::vector<fake::Work> works;  // in the order of the nodes' numbers
};

namespace fake {
namespace {

std::mutex mutex;
struct Capture {
  CUgraph graph = nullptr;
  bool global = false;   ///< another thread must not wait for the GPU
  bool invalid = false;  ///< one did
};
auto* const captures = new std::map<CUstream, Capture>;  // guarded by mutex
std::atomic<std::uint32_t> next_graph{1};

void notify(CUpti_CallbackId cbid, const CUpti_GraphData& data) {
  if (const Hooks* const table = tool()) table->graph(cbid, current_context(), data);
}

void notify(CUpti_CallbackId cbid, CUgraph graph) {
  CUpti_GraphData data{};
  data.graph = graph;
  notify(cbid, data);
}

void notify(CUpti_CallbackId cbid, CUgraphExec executable) {
  CUpti_GraphData data{};
  data.graphExec = executable;
  notify(cbid, data);
}

CUgraph make_graph() {
  auto* const graph = new CUgraph_st{{next_graph++}, {}};
  notify(CUPTI_CBID_RESOURCE_GRAPH_CREATED, graph);
  return graph;
}

void add_node(CUgraph graph, GraphNode added, CUgraphNode original) {
  added.handle =
      std::make_unique<CUgraphNode_st>(CUgraphNode_st{std::uint64_t{graph->id} << 32 | graph->nodes.size()});
  CUpti_GraphData data{};
  data.graph = graph;
  data.node = added.handle.get();
  graph->nodes.push_back(std::move(added));
  notify(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, data);
  if (original == nullptr) return;
  data.originalNode = original;
  notify(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, data);
}

CUgraph clone(const CUgraph_st& graph) {
  CUgraph const copy = make_graph();
  for (const GraphNode& node : graph.nodes) {
    std::unique_ptr<CUgraph_st> child;
    if (node.child) child.reset(clone(*node.child));
    add_node(copy, {nullptr, node.work, std::move(child)}, node.handle.get());
  }
  return copy;
}

void destroy(CUgraph_st& graph) {
  notify(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, &graph);
  for (GraphNode& node : graph.nodes) {
    if (node.child) destroy(*node.child);
  }
}

/// The graph's own nodes, then those of each child.
std::vector<const GraphNode*> flat(const CUgraph_st& graph, bool notified) {
  std::vector<const GraphNode*> nodes;
  std::vector<const CUgraph_st*> graphs{&graph};
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    if (i != 0 && notified)
      notify(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, const_cast<CUgraph>(graphs[i]));
    for (const GraphNode& node : graphs[i]->nodes) {
      nodes.push_back(&node);
      if (node.child) graphs.push_back(node.child.get());
    }
  }
  return nodes;
}

std::vector<Work> works_of(const std::vector<const GraphNode*>& nodes) {
  std::vector<Work> works;
  for (const GraphNode* const node : nodes) works.push_back(node->work);
  return works;
}

}  // namespace

bool captured(const Work& work, CUstream stream) {
  CUgraph graph = nullptr;
  {
    const std::lock_guard lock(mutex);
    const auto at = captures->find(stream);
    if (at == captures->end()) return false;
    graph = at->second.graph;
  }
  add_node(graph, {nullptr, work, nullptr}, nullptr);
  return true;
}

bool breaks_captures() {
  const std::lock_guard lock(mutex);
  bool any = false;
  for (auto& [stream, capture] : *captures) {
    any |= capture.global;
    capture.invalid |= capture.global;
  }
  return any;
}

bool is_capturing() {
  const std::lock_guard lock(mutex);
  return !captures->empty();
}

}  // namespace fake

FAKE_EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  const cuStreamBeginCapture_v2_params params{stream, mode};
  return TRACED(cuStreamBeginCapture_v2, params, nullptr, [&](const fake::Call&) {
    CUgraph const graph = fake::make_graph();
    const std::lock_guard lock(fake::mutex);
    (*fake::captures)[stream] = {graph, mode == CU_STREAM_CAPTURE_MODE_GLOBAL, false};
    return CUDA_SUCCESS;
  });
}

FAKE_EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  const cuStreamEndCapture_params params{stream, graph};
  return TRACED(cuStreamEndCapture, params, nullptr, [&](const fake::Call&) {
    const std::lock_guard lock(fake::mutex);
    const auto at = fake::captures->find(stream);
    *graph = at == fake::captures->end() || at->second.invalid ? nullptr : at->second.graph;
    if (at != fake::captures->end()) fake::captures->erase(at);
    return *graph != nullptr ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  });
}

FAKE_EXPORT CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  const cuGraphCreate_params params{graph, flags};
  return TRACED(cuGraphCreate, params, nullptr, [&](const fake::Call&) {
    *graph = fake::make_graph();
    return CUDA_SUCCESS;
  });
}

FAKE_EXPORT CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode*,
                                              std::size_t, CUgraph child) {
  if (const CUresult r = fake::ready("cuGraphAddChildGraphNode"); r != CUDA_SUCCESS) return r;
  std::unique_ptr<CUgraph_st> copy(fake::clone(*child));
  fake::add_node(graph, {nullptr, {}, std::move(copy)}, nullptr);
  *node = graph->nodes.back().handle.get();
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  if (const CUresult r = fake::ready("cuGraphGetNodes"); r != CUDA_SUCCESS) return r;
  for (std::size_t i = 0; i < *count && i < graph->nodes.size(); ++i) nodes[i] = graph->nodes[i].handle.get();
  *count = graph->nodes.size();
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGraphDestroy(CUgraph graph) {
  if (const CUresult r = fake::ready("cuGraphDestroy"); r != CUDA_SUCCESS) return r;
  fake::destroy(*graph);
  delete graph;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long) {
  if (const CUresult r = fake::ready("cuGraphInstantiate"); r != CUDA_SUCCESS) return r;
  std::unique_ptr<CUgraph_st> copy(fake::clone(*graph));
  *exec = new CUgraphExec_st{{copy->id}, std::move(copy), {}};
  fake::notify(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING, *exec);
  (*exec)->works = fake::works_of(fake::flat(*(*exec)->graph, true));
  fake::notify(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, *exec);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph,
                                          CUgraphExecUpdateResultInfo* result) {
  const cuGraphExecUpdate_v2_params params{exec, graph, result};
  return TRACED(cuGraphExecUpdate_v2, params, nullptr, [&](const fake::Call&) {
    std::vector<fake::Work> works = fake::works_of(fake::flat(*graph, false));
    if (works.size() != exec->works.size()) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    exec->works = std::move(works);
    return CUDA_SUCCESS;
  });
}

FAKE_EXPORT CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                                       const CUDA_KERNEL_NODE_PARAMS* to) {
  const cuGraphExecKernelNodeSetParams_v2_params params{exec, node, to};
  return TRACED(cuGraphExecKernelNodeSetParams_v2, params, nullptr, [&](const fake::Call&) {
    fake::Work& work = exec->works[static_cast<std::uint32_t>(node->id)];
    work.function = to->func;
    work.symbol = to->func->name;
    return CUDA_SUCCESS;
  });
}

FAKE_EXPORT CUresult cuGraphExecDestroy(CUgraphExec exec) {
  if (const CUresult r = fake::ready("cuGraphExecDestroy"); r != CUDA_SUCCESS) return r;
  fake::notify(CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING, exec);
  fake::notify(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, exec->graph.get());
  delete exec;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  const cuGraphLaunch_params params{exec, stream};
  return TRACED(cuGraphLaunch, params, nullptr, [&](const fake::Call& call) {
    std::size_t last = 0;
    for (std::size_t i = 0; i < exec->works.size(); ++i) {
      if (exec->works[i].context != nullptr) last = i;
    }
    for (std::size_t i = 0; i <= last && i < exec->works.size(); ++i) {
      fake::Work work = exec->works[i];
      if (work.context == nullptr) continue;  // the node of a child graph
      work.graph_node = std::uint64_t{exec->id} << 32 | i;
      work.correlation = call.correlation;
      work.stream = fake::stream_id(stream);
      work.last_of_graph = i == last;
      fake::run_work(work);
    }
    return CUDA_SUCCESS;
  });
}
