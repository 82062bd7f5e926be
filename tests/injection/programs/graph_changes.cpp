// SPDX-License-Identifier: Apache-2.0
//
// What programs do with graphs after their capture:
//
//   recapture TOKENS [memory]   captures under `even` or `odd`, updates the one executable, launches it under
//   `launch` children          a captured graph twice in another one, replayed, updated with one captured
//   elsewhere functions         another function in a node of the executable, after a kernel was unloaded
//   failed            an update that fails
//   eager             an eager launch on another stream while a capture is under way
//   threads           two threads that capture and replay at once
//   broken            a thread waits for the GPU while another one captures, which makes the capture invalid
//
// recapture with `memory` prints the bytes of the heap after 1,000 tokens and at the end.
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "tests/injection/programs/gpu.h"

namespace {

constexpr int kNodes = 4;

CUgraph capture(const Gpu& gpu, CUstream stream, const char* range, int nodes = kNodes) {
  CUgraph graph = nullptr;
  must(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), "cuStreamBeginCapture");
  {
    const Range open(range);
    for (int i = 0; i < nodes; ++i) must(gpu.launch(1, stream), "cuLaunchKernel");
  }
  must(cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
  return graph;
}

CUgraphExec instantiate(CUgraph graph) {
  CUgraphExec exec = nullptr;
  must(cuGraphInstantiate(&exec, graph, 0), "cuGraphInstantiate");
  return exec;
}

void launch(CUgraphExec exec, CUstream stream, const char* range) {
  const Range open(range);
  must(cuGraphLaunch(exec, stream), "cuGraphLaunch");
  must(cuStreamSynchronize(stream), "cuStreamSynchronize");
}

bool update(CUgraphExec exec, CUgraph graph) {
  CUgraphExecUpdateResultInfo result{};
  return cuGraphExecUpdate(exec, graph, &result) == CUDA_SUCCESS;
}

std::size_t heap_bytes() {
  const struct mallinfo2 all = mallinfo2();
  return all.uordblks + all.hblkhd;
}

void recapture(const Gpu& gpu, CUstream stream, int tokens, bool with_memory) {
  CUgraphExec exec = nullptr;
  std::size_t early = 0;
  for (int token = 0; token < tokens; ++token) {
    CUgraph const graph = capture(gpu, stream, token % 2 == 0 ? "even" : "odd");
    if (exec == nullptr)
      exec = instantiate(graph);
    else if (!update(exec, graph))
      std::exit(4);
    must(cuGraphDestroy(graph), "cuGraphDestroy");
    launch(exec, stream, "launch");
    if (token == 1'000) early = heap_bytes();
  }
  if (with_memory) std::printf("%zu %zu\n", early, heap_bytes());
}

CUgraph with_children(CUgraph child) {
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  must(cuGraphCreate(&graph, 0), "cuGraphCreate");
  for (int i = 0; i < 2; ++i) must(cuGraphAddChildGraphNode(&node, graph, nullptr, 0, child), "child");
  return graph;
}

void use_children(const Gpu& gpu, CUstream stream) {
  CUgraphExec const exec = instantiate(with_children(capture(gpu, stream, "first")));
  launch(exec, stream, "replay");
  if (!update(exec, with_children(capture(gpu, stream, "second")))) std::exit(4);
  launch(exec, stream, "replay");
}

void set_function(CUstream stream) {
  CUmodule module = nullptr;
  (void)load_kernel(&module, "unloaded");
  must(cuModuleUnload(module), "cuModuleUnload");
  CUmodule modules[2];
  CUfunction const first = load_kernel(&modules[0], "kernel_a");
  CUfunction const second = load_kernel(&modules[1], "kernel_b");
  CUgraph graph = nullptr;
  must(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), "cuStreamBeginCapture");
  must(cuLaunchKernel(first, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr), "cuLaunchKernel");
  must(cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
  CUgraphExec const exec = instantiate(graph);
  for (int i = 0; i < 5; ++i) launch(exec, stream, "replay");
  CUgraphNode node = nullptr;
  std::size_t count = 1;
  must(cuGraphGetNodes(graph, &node, &count), "cuGraphGetNodes");
  CUDA_KERNEL_NODE_PARAMS to{};
  to.func = second;
  to.gridDimX = to.gridDimY = to.gridDimZ = to.blockDimX = to.blockDimY = to.blockDimZ = 1;
  must(cuGraphExecKernelNodeSetParams(exec, node, &to), "cuGraphExecKernelNodeSetParams");
  for (int i = 0; i < 7; ++i) launch(exec, stream, "replay");
}

void fail_update(const Gpu& gpu, CUstream stream) {
  CUgraphExec const exec = instantiate(capture(gpu, stream, "first"));
  if (update(exec, capture(gpu, stream, "second", kNodes + 1))) std::exit(4);
  launch(exec, stream, "replay");
}

void launch_beside_capture(const Gpu& gpu, CUstream stream) {
  CUstream other = nullptr;
  must(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  CUgraph graph = nullptr;
  must(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), "cuStreamBeginCapture");
  must(gpu.launch(1, stream), "cuLaunchKernel");
  {
    const Range open("eager");
    must(gpu.launch(1, other), "cuLaunchKernel");
  }
  must(cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
  CUgraphExec const exec = instantiate(graph);
  for (int i = 0; i < 5; ++i) launch(exec, stream, "replay");
}

void break_capture(const Gpu& gpu, CUstream stream) {
  CUgraph graph = nullptr;
  CUresult of_wait = CUDA_SUCCESS;
  const Range model("model");
  must(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), "cuStreamBeginCapture");
  must(gpu.launch(1, stream), "cuLaunchKernel");
  std::thread logger([&] {
    gpu.use_on_this_thread();
    const Range open("logger");
    of_wait = cuCtxSynchronize();
  });
  logger.join();
  const CUresult of_capture = cuStreamEndCapture(stream, &graph);
  std::printf("%d %d\n", static_cast<int>(of_wait), static_cast<int>(of_capture));
}

void call_host_functions(const Gpu& gpu, CUstream stream) {
  static int calls = 0;
  const auto call = [stream] {
    must(cuLaunchHostFunc(
             stream, [](void*) { ++calls; }, nullptr),
         "cuLaunchHostFunc");
  };
  CUgraph graph = nullptr;
  must(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), "cuStreamBeginCapture");
  {
    const Range open("first");
    must(gpu.launch(1, stream), "cuLaunchKernel");
    call();
    must(gpu.launch(1, stream), "cuLaunchKernel");
  }
  must(cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
  CUgraphExec const exec = instantiate(graph);
  for (int i = 0; i < 5; ++i) launch(exec, stream, "replay");
  for (int i = 0; i < 3; ++i) {
    must(gpu.launch(1, stream), "cuLaunchKernel");
    call();
  }
}

void use_threads(const Gpu& gpu) {
  const auto work = [&](const char* range) {
    gpu.use_on_this_thread();
    CUstream stream = nullptr;
    must(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    for (int i = 0; i < 50; ++i) {
      CUgraph const graph = capture(gpu, stream, range);
      CUgraphExec const exec = instantiate(graph);
      must(cuGraphDestroy(graph), "cuGraphDestroy");
      launch(exec, stream, "replay");
      must(cuGraphExecDestroy(exec), "cuGraphExecDestroy");
    }
  };
  std::thread one(work, "one"), two(work, "two");
  one.join();
  two.join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string_view how = argv[1];
  const Gpu gpu;
  CUstream stream = nullptr;
  must(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  if (how == "recapture") recapture(gpu, stream, argc > 2 ? std::atoi(argv[2]) : 100, argc > 3);
  if (how == "children") use_children(gpu, stream);
  if (how == "functions") set_function(stream);
  if (how == "failed") fail_update(gpu, stream);
  if (how == "eager") launch_beside_capture(gpu, stream);
  if (how == "threads") use_threads(gpu);
  if (how == "host") call_host_functions(gpu, stream);
  if (how == "broken") break_capture(gpu, stream);
  std::printf("done\n");
  return 0;
}
