// SPDX-License-Identifier: Apache-2.0
//
// NVTX misuse in real programs: before cuInit, too many pops, ended twice, never ended.
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
