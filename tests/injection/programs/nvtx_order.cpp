// SPDX-License-Identifier: Apache-2.0
//
// NVTX as programs really use it: before cuInit, popped too often, ended twice, left open.
#include "tests/injection/programs/gpu.h"

int main() {
  nvtxRangePushA("before cuInit");
  const nvtxRangeId_t across = nvtxRangeStartA("started before cuInit");
  const Gpu gpu;
  must(gpu.launch(1), "cuLaunchKernel");
  nvtxRangePop();
  nvtxRangePop();  // nothing to pop
  nvtxRangePop();
  nvtxRangeEnd(across);
  nvtxRangeEnd(across);  // ended already
  nvtxRangePushA("after");
  must(gpu.launch(2), "cuLaunchKernel");
  nvtxRangePop();
  nvtxRangePushA("left open");
  must(gpu.launch(3), "cuLaunchKernel");
  std::puts("three launches");
  return 0;
}
