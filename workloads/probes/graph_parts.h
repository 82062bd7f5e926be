// SPDX-License-Identifier: Apache-2.0
//
// What graph_kinds builds graphs of: captures, children, conditional nodes. Errors end the program.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <vector>

#include "workloads/probes/cuda_check.h"
#include "workloads/probes/graph_kernels.h"
#include "workloads/probes/range.h"

namespace rangefinder::probe {

inline cudaStream_t make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  return stream;
}

/// Loads all kernels: not possible during a capture.
inline void load_kernels() {
  for (const void* kernel :
       {in_first(), in_second(), in_third(), in_even(), in_odd(), in_outer(), set_first()}) {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  }
  check(load_other_kernels(), "cudaFuncGetAttributes");
}

inline void launch(void* kernel, cudaStream_t stream) {
  check(cudaLaunchKernel(kernel, dim3(1), dim3(32), nullptr, 0, stream), "cudaLaunchKernel");
}

/// A kernel in the range that its name says.
struct Step {
  void* kernel;
  const char* range;  ///< nullptr: outside of any range
};
inline const Step kFirst{in_first(), "first"}, kSecond{in_second(), "second"}, kThird{in_third(), "third"},
    kEven{in_even(), "even"}, kOdd{in_odd(), "odd"};

inline void launch_steps(const std::vector<Step>& steps, cudaStream_t stream) {
  for (const Step& step : steps) {
    const Range range(step.range);
    launch(step.kernel, stream);
  }
}

inline cudaGraph_t capture(cudaStream_t stream, const std::function<void()>& work) {
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
  work();
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  return graph;
}

inline cudaGraph_t capture(cudaStream_t stream, const std::vector<Step>& steps) {
  return capture(stream, [&] { launch_steps(steps, stream); });
}

inline cudaGraph_t empty_graph() {
  cudaGraph_t graph = nullptr;
  check(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
  return graph;
}

inline cudaGraphNode_t add_kernel(cudaGraph_t graph, void* kernel) {
  cudaKernelNodeParams parameters{};
  parameters.func = kernel;
  parameters.gridDim = dim3(1);
  parameters.blockDim = dim3(32);
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &parameters), "cudaGraphAddKernelNode");
  return node;
}

inline cudaGraphNode_t add_child(cudaGraph_t graph, cudaGraph_t child) {
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, child), "cudaGraphAddChildGraphNode");
  return node;
}

inline cudaGraphExec_t instantiate(cudaGraph_t graph) {
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  return executable;
}

inline bool update(cudaGraphExec_t executable, cudaGraph_t graph) {
  cudaGraphExecUpdateResultInfo info{};
  const bool updated = cudaGraphExecUpdate(executable, graph, &info) == cudaSuccess;
  (void)cudaGetLastError();
  return updated;
}

inline void must_update(cudaGraphExec_t executable, cudaGraph_t graph) {
  if (!update(executable, graph)) check(cudaErrorGraphExecUpdateFailure, "cudaGraphExecUpdate");
}

template <typename Value>
Value* device_value() {
  void* value = nullptr;
  check(cudaMalloc(&value, sizeof(Value)), "cudaMalloc");
  check(cudaMemset(value, 0, sizeof(Value)), "cudaMemset");
  return static_cast<Value*>(value);
}

/// A conditional node in `graph`, behind all its nodes so far, and its bodies.
struct Conditional {
  cudaGraphConditionalHandle handle = 0;
  std::vector<cudaGraph_t> bodies;
};
inline Conditional add_conditional(cudaGraph_t graph, cudaGraphConditionalNodeType type, unsigned bodies,
                                   unsigned at_launch,
                                   const std::function<void(cudaGraphConditionalHandle)>& before = {}) {
  Conditional made;
  check(cudaGraphConditionalHandleCreate(&made.handle, graph, at_launch, cudaGraphCondAssignDefault),
        "cudaGraphConditionalHandleCreate");
  if (before) before(made.handle);
  std::size_t count = 0;
  check(cudaGraphGetNodes(graph, nullptr, &count), "cudaGraphGetNodes");
  std::vector<cudaGraphNode_t> nodes(count);
  if (count != 0) check(cudaGraphGetNodes(graph, nodes.data(), &count), "cudaGraphGetNodes");
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = made.handle;
  parameters.conditional.type = type;
  parameters.conditional.size = bodies;
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddNode(&node, graph, nodes.data(), nullptr, count, &parameters), "cudaGraphAddNode");
  made.bodies.assign(parameters.conditional.phGraph_out, parameters.conditional.phGraph_out + bodies);
  return made;
}

inline void capture_into(cudaGraph_t graph, cudaStream_t stream, const std::function<void()>& work) {
  check(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed),
        "cudaStreamBeginCaptureToGraph");
  work();
  check(cudaStreamEndCapture(stream, nullptr), "cudaStreamEndCapture");
}

inline void capture_into(cudaGraph_t graph, cudaStream_t stream, const std::vector<Step>& steps) {
  capture_into(graph, stream, [&] { launch_steps(steps, stream); });
}

}  // namespace rangefinder::probe
