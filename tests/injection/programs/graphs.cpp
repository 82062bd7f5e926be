// SPDX-License-Identifier: Apache-2.0
//
//   graphs LAUNCHES SECONDS
//
// A graph of three kernels, captured in the range `capture`. It is launched in the range `replay` at least
// LAUNCHES times, and further until SECONDS have passed since the first launch.
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
  must(cuStreamCreate(&stream, 0), "cuStreamCreate");
  CUgraphExec const exec = captured_graph(gpu, stream, 1);
  const auto begun = std::chrono::steady_clock::now();
  const Range range("replay");
  for (int i = 0; i < launches || std::chrono::steady_clock::now() - begun < wanted; ++i) {
    must(cuGraphLaunch(exec, stream), "cuGraphLaunch");
    must(cuStreamSynchronize(stream), "cuStreamSynchronize");
  }
  std::printf("done\n");
  return 0;
}
