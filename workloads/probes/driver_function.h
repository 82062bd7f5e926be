// SPDX-License-Identifier: Apache-2.0
//
// Functions of the loaded driver, looked up through the runtime: a probe does not link libcuda.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "workloads/probes/cuda_check.h"

namespace rangefinder::probe {

/// Ends the probe if the driver has no such function. Types are in cudaTypedefs.h, or decltype(cuName)*.
template <typename Function>
Function driver_function(const char* name) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check(cudaGetDriverEntryPointByVersion(name, &address, 12000, cudaEnableDefault, &found), name);
  if (found != cudaDriverEntryPointSuccess) check(cudaErrorSymbolNotFound, name);
  return reinterpret_cast<Function>(address);
}

inline void check_driver(CUresult result, const char* what) {
  check(result == CUDA_SUCCESS ? cudaSuccess : cudaErrorUnknown, what);
}

}  // namespace rangefinder::probe
