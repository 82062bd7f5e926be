// SPDX-License-Identifier: Apache-2.0
//
//   graphs LAUNCHES SECONDS
//
// A graph of three kernels, captured in the range `capture`, launched in `replay` so many times, and then on
// until so many seconds have passed since the first.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "tests/injection/programs/gpu.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int launches = std::atoi(argv[1]);
  const std::chrono::duration<double> wanted(std::atof(argv[2]));
  const Gpu gpu;
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  must(cuStreamCreate(&stream, 0), "cuStreamCreate");
  {
    const Range range("capture");
    must(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), "cuStreamBeginCapture");
    for (unsigned i = 0; i < 3; ++i) must(gpu.launch(1 + i, stream), "cuLaunchKernel");
    must(cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
  }
  must(cuGraphInstantiate(&exec, graph, 0), "cuGraphInstantiate");
  const auto begun = std::chrono::steady_clock::now();
  const Range range("replay");
  for (int i = 0; i < launches || std::chrono::steady_clock::now() - begun < wanted; ++i) {
    must(cuGraphLaunch(exec, stream), "cuGraphLaunch");
    must(cuStreamSynchronize(stream), "cuStreamSynchronize");
  }
  std::printf("done\n");
  return 0;
}
