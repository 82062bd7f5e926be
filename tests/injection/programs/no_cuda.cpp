// SPDX-License-Identifier: Apache-2.0
//
// no_cuda [init]: NVTX ranges without GPU work. With `init` CUDA is initialised, but no context is created.
#include "tests/injection/programs/gpu.h"

int main(int argc, char**) {
  if (argc > 1) must(cuInit(0), "cuInit");
  const Range outer("host only");
  const Range inner("inside");
  std::puts("no CUDA here");
  return 0;
}
