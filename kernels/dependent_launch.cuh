// SPDX-License-Identifier: Apache-2.0
//
// Programmatic dependent launch (compute capability 9.0): the blocks of a kernel are set up while the
// previous kernel in the stream is still finishing. The kernel then waits before it touches memory:
//
//   kernel A   =========|                      |: all blocks of A are done
//   kernel B            |set up|=========      instead of   |flush|launch|set up|=========
//
// Hazard: all threads of such a kernel must call wait_for_predecessor() before they access global memory that
// an earlier kernel reads or writes. The kernels before and after it may be ordinary launches. It can be
// captured into a graph. On other GPUs it is an ordinary launch: the code for 8.0 runs there, and it does not
// wait.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "kernels/device_facts.h"

namespace rangefinder::kernels {

/// Waits until all earlier launches are complete and their writes are visible.
__device__ __forceinline__ void wait_for_predecessor() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// The next kernel's blocks may start once all blocks of this one have called this or exited; they then wait
/// as above. Without it they start when the blocks of this kernel exit.
__device__ __forceinline__ void allow_successor() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// `may_start_early`: a programmatic dependent launch, only with has_hopper_code(); else an ordinary one.
template <typename... Parameters, typename... Arguments>
cudaError_t launch_kernel(bool may_start_early, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                          std::size_t shared_bytes, cudaStream_t stream, const Arguments&... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = may_start_early ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, static_cast<const Parameters&>(arguments)...);
}

template <typename... Parameters, typename... Arguments>
cudaError_t launch_dependent(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
                             cudaStream_t stream, const Arguments&... arguments) {
  DeviceFacts facts;
  const cudaError_t status = current_device_facts(facts);
  if (status != cudaSuccess) return status;
  return launch_kernel(has_hopper_code(facts), kernel, grid, block, shared_bytes, stream, arguments...);
}

}  // namespace rangefinder::kernels
