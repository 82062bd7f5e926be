// SPDX-License-Identifier: Apache-2.0
//
// autograd: a backward pass as in PyTorch. The main thread has step/backward open and waits; the thread
// pt_autograd_0 launches 5 kernels, and 3 more in a range of its own.
#include <thread>

#include <pthread.h>

#include "tests/injection/programs/gpu.h"

namespace {

void backward(const Gpu& gpu) {
  pthread_setname_np(pthread_self(), "pt_autograd_0");
  gpu.use_on_this_thread();
  for (unsigned i = 1; i <= 5; ++i) must(gpu.launch(i), "cuLaunchKernel");
  const Range layer("layer");
  for (unsigned i = 6; i <= 8; ++i) must(gpu.launch(i), "cuLaunchKernel");
}

}  // namespace

int main() {
  const Gpu gpu;
  {
    const Range step("step");
    const Range open("backward");
    std::thread(backward, std::cref(gpu)).join();
  }
  must(cuCtxSynchronize(), "cuCtxSynchronize");
  std::printf("8 kernels\n");
  return 0;
}
