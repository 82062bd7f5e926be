// SPDX-License-Identifier: Apache-2.0
#include "workloads/probes/hazard_kernels.h"

#include <cooperative_groups.h>

namespace rangefinder::probe {
namespace {

constexpr unsigned long long kPatienceNs = 20'000'000'000ull;

__device__ unsigned long long globaltimer() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

/// Adds 1 to `*gave_up` if `*flag` does not become `wanted` within kPatienceNs.
__global__ void wait_until(const volatile unsigned* flag, unsigned wanted, unsigned* gave_up) {
  const unsigned long long start = globaltimer();
  while (*flag != wanted) {
    if (globaltimer() - start > kPatienceNs) {
      ++*gave_up;
      return;
    }
  }
}

__global__ void set_flag(volatile unsigned* flag, unsigned value) {
  *flag = value;
  __threadfence_system();
}

/// Waits for the previous kernel, as a programmatic dependent launch must, and adds 1.
__global__ void add_in_chain(unsigned* sum) {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  if (threadIdx.x == 0) ++*sum;
}

__global__ void meet_in_grid(unsigned* sum) {
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) atomicAdd(sum, 1);
}

}  // namespace

cudaError_t launch_wait_until(const unsigned* flag, unsigned wanted, unsigned* gave_up, cudaStream_t stream) {
  wait_until<<<1, 1, 0, stream>>>(flag, wanted, gave_up);
  return cudaGetLastError();
}

cudaError_t launch_set_flag(unsigned* flag, unsigned value, cudaStream_t stream) {
  set_flag<<<1, 1, 0, stream>>>(flag, value);
  return cudaGetLastError();
}

cudaError_t launch_in_chain(unsigned* sum, cudaStream_t stream) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3(1);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, add_in_chain, sum);
}

cudaError_t launch_meet_in_grid(unsigned* sum, cudaStream_t stream) {
  void* arguments[] = {&sum};
  return cudaLaunchCooperativeKernel(meet_in_grid, dim3(32), dim3(32), arguments, 0, stream);
}

}  // namespace rangefinder::probe
