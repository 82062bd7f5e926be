// SPDX-License-Identifier: Apache-2.0
#include "tests/experiments/exact_time_kernels.h"

#include "workloads/probes/cuda_check.h"

__device__ unsigned long long now_ns() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

__global__ void spin(unsigned long long clocks, unsigned long long* span) {
  if (threadIdx.x == 0) atomicMin(&span[0], now_ns());
  const unsigned long long begin = clock64();
  while (clock64() - begin < clocks) {
  }
  if (threadIdx.x == 0) atomicMax(&span[1], now_ns());
}

__global__ void copy(const uint4* from, uint4* to, std::size_t count, unsigned long long* span) {
  if (threadIdx.x == 0) atomicMin(&span[0], now_ns());
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    to[i] = from[i];
  if (threadIdx.x == 0) atomicMax(&span[1], now_ns());
}

unsigned long long* make_span() {
  unsigned long long* span = nullptr;
  rangefinder::probe::check(cudaMalloc(&span, 2 * sizeof(*span)), "cudaMalloc");
  return span;
}

void launch_spin(unsigned blocks, unsigned long long clocks, unsigned long long* span, cudaStream_t stream) {
  spin<<<blocks, 32, 0, stream>>>(clocks, span);
}

void launch_copy(unsigned blocks, unsigned threads, const void* from, void* to, std::size_t bytes,
                 unsigned long long* span) {
  copy<<<blocks, threads>>>(static_cast<const uint4*>(from), static_cast<uint4*>(to), bytes / sizeof(uint4),
                            span);
}
