// SPDX-License-Identifier: Apache-2.0
//
// Errors of the CUDA runtime in a probe: prints one line on stderr and exits.
// Exit code 3: there is no usable GPU. 1: any other error.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>

namespace rangefinder::probe {

inline constexpr int kExitFailed = 1;
inline constexpr int kExitNoGpu = 3;

inline void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "probe: %s: %s\n", what, cudaGetErrorString(result));
  std::exit(kExitFailed);
}

/// Ends the program with kExitNoGpu unless device 0 can be used; returns the number of GPUs.
inline int require_gpu() {
  int count = 0;
  cudaError_t result = cudaGetDeviceCount(&count);
  if (result == cudaSuccess && count > 0) result = cudaFree(nullptr);  // creates the context
  if (result == cudaSuccess && count > 0) return count;
  std::fprintf(stderr, "probe: no GPU: %s\n",
               result == cudaSuccess ? "the driver reports none" : cudaGetErrorString(result));
  std::exit(kExitNoGpu);
}

}  // namespace rangefinder::probe
