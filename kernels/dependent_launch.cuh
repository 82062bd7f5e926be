// SPDX-License-Identifier: Apache-2.0
//
// A launch whose blocks may be set up while the kernel before it in the stream is still finishing
// (programmatic dependent launch, compute capability 9.0). The kernel then waits before it touches memory:
//
//   kernel A   =========|                      |: all blocks of A are through
//   kernel B            |set up|=========      instead of   |flush|launch|set up|=========
//
// A kernel launched so must call wait_for_predecessor() first, in all threads, before any access to global
// memory. Kernels of other launches may stand before and behind it. It can be captured into a graph. On
// other GPUs it is an ordinary launch: there the code that runs was compiled for 8.0 and does not wait.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "kernels/device_facts.h"

namespace rangefinder::kernels {

/// Until all that was launched before is complete and its writes are visible.
__device__ __forceinline__ void wait_for_predecessor() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

template <typename... Parameters, typename... Arguments>
cudaError_t launch_dependent(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
                             cudaStream_t stream, const Arguments&... arguments) {
  constexpr int kWithWait = 90;  // what wait_for_predecessor() is compiled for, and not what comes later
  DeviceFacts facts;
  const cudaError_t status = current_device_facts(facts);
  if (status != cudaSuccess) return status;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = facts.compute_capability == kWithWait ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

}  // namespace rangefinder::kernels
