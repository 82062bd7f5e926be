// SPDX-License-Identifier: Apache-2.0
//
// Two CUDA graphs, replayed under other ranges than those of their creation:
//
//   captured   graph_replay / capture / layer 0 … 3      kernels launched into a capturing stream
//   built      graph_replay / build                      kernel ─▶ memcpy ─▶ memset ─▶ child graph of 2
//   kernels launched   graph_replay / replay captured, graph_replay / replay built
//
// A captured kernel belongs to the layer of its launch in the capture, not to the replay.
#include <cstdint>
#include <string>

#include "workloads/arguments.h"
#include "workloads/probes/cuda_check.h"
#include "workloads/probes/expectation.h"
#include "workloads/probes/kernels.h"
#include "workloads/probes/range.h"

namespace rangefinder::probe {
namespace {

constexpr unsigned kLayers = 4;
constexpr std::size_t kBytes = 1 << 20;

cudaGraphExec_t capture(unsigned nodes, cudaStream_t stream) {
  const Range outer("graph_replay");
  const Range middle("capture");
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  for (unsigned layer = 0; layer < kLayers; ++layer) {
    const Range inner("layer " + std::to_string(layer));
    for (unsigned i = layer; i < nodes; i += kLayers) check(launch_empty(132, stream), "captured launch");
  }
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  return executable;
}

cudaGraphNode_t add_kernel(cudaGraph_t graph, const cudaGraphNode_t* after) {
  cudaKernelNodeParams parameters{};
  parameters.func = empty_kernel();
  parameters.gridDim = dim3(132);
  parameters.blockDim = dim3(32);
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddKernelNode(&node, graph, after, after == nullptr ? 0 : 1, &parameters), "kernel node");
  return node;
}

cudaGraphExec_t build(void* target, const void* source) {
  const Range outer("graph_replay");
  const Range inner("build");
  cudaGraph_t graph = nullptr, child = nullptr;
  check(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
  check(cudaGraphCreate(&child, 0), "cudaGraphCreate");
  const cudaGraphNode_t first_of_child = add_kernel(child, nullptr);
  add_kernel(child, &first_of_child);

  const cudaGraphNode_t kernel = add_kernel(graph, nullptr);
  cudaGraphNode_t copy = nullptr, fill = nullptr, nested = nullptr;
  check(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, target, source, kBytes, cudaMemcpyDeviceToDevice),
        "memcpy node");
  cudaMemsetParams parameters{};
  parameters.dst = target;
  parameters.value = 0x2b;
  parameters.elementSize = 1;
  parameters.width = kBytes;
  parameters.height = 1;
  check(cudaGraphAddMemsetNode(&fill, graph, &copy, 1, &parameters), "memset node");
  check(cudaGraphAddChildGraphNode(&nested, graph, &fill, 1, child), "child graph node");
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  return executable;
}

void replay(cudaGraphExec_t executable, unsigned replays, const char* name, cudaStream_t stream) {
  const Range outer("graph_replay");
  const Range inner(name);
  for (unsigned i = 0; i < replays; ++i) check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
  check(cudaStreamSynchronize(stream), name);
}

Array captured_paths(unsigned nodes, unsigned replays) {
  Array paths;
  for (unsigned layer = 0; layer < kLayers; ++layer) {
    const unsigned of_layer = nodes / kLayers + (layer < nodes % kLayers ? 1 : 0);
    paths.add(Object()
                  .add("path", "graph_replay/capture/layer " + std::to_string(layer))
                  .add("kernels", std::uint64_t{of_layer} * replays));
  }
  return paths;
}

void run(unsigned nodes, unsigned replays) {
  require_gpu();
  cudaStream_t stream = nullptr;
  void *source = nullptr, *target = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  check(cudaMalloc(&source, kBytes), "cudaMalloc");
  check(cudaMalloc(&target, kBytes), "cudaMalloc");
  {
    const Range outer("graph_replay");
    const Range inner("warm up");
    check(launch_random(source, kBytes, 3, stream), "fill");
    check(launch_empty(132, stream), "warm up");  // loads the kernel: not possible during capture
    check(cudaStreamSynchronize(stream), "warm up");
  }
  cudaGraphExec_t captured = capture(nodes, stream);
  cudaGraphExec_t built = build(target, source);
  replay(captured, replays, "replay captured", stream);
  replay(built, replays, "replay built", stream);
  print(Object()
            .add("probe", "graph_replay")
            .add("graph_launches", std::uint64_t{2} * replays)
            .add("kernels_outside", 2)
            .add("captured", Object()
                                 .add("launches", replays)
                                 .add("kernels", std::uint64_t{nodes} * replays)
                                 .add("paths", captured_paths(nodes, replays)))
            .add("built", Object()
                              .add("launches", replays)
                              .add("kernels", std::uint64_t{3} * replays)
                              .add("memcpys", replays)
                              .add("memcpy_bytes", std::uint64_t{kBytes} * replays)
                              .add("memsets", replays)
                              .add("memset_bytes", std::uint64_t{kBytes} * replays)));
}

}  // namespace
}  // namespace rangefinder::probe

int main(int argc, char** argv) {
  unsigned nodes = 40, replays = 50;
  rangefinder::Arguments arguments("CUDA graphs, captured and built, replayed under other ranges");
  arguments.number("--nodes", nodes, "Kernels of the captured graph", 1u, 100'000u);
  arguments.number("--replays", replays, "Launches of each graph", 1u, 1'000'000u);
  if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
  rangefinder::probe::run(nodes, replays);
}
