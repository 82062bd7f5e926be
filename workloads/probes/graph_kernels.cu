// SPDX-License-Identifier: Apache-2.0
#include "workloads/probes/graph_kernels.h"

namespace {

constexpr int kSteps = 200;  // long enough for a sampler to see the order, short enough for thousands

#define KERNEL(name)                                  \
  extern "C" __global__ void name() {                 \
    for (int i = 0; i < kSteps; ++i) __nanosleep(10); \
  }
KERNEL(in_first)
KERNEL(in_second)
KERNEL(in_third)
KERNEL(in_even)
KERNEL(in_odd)
KERNEL(in_outer)
KERNEL(set_first)

extern "C" __global__ void in_reset(int* left, int runs) {
  *left = runs;
}

extern "C" __global__ void in_body(int* left, cudaGraphConditionalHandle handle) {
  if (--*left <= 0) cudaGraphSetConditional(handle, 0);
}

extern "C" __global__ void in_choose(unsigned* round, unsigned choices, cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, (*round)++ % choices);
}

extern "C" __global__ void in_again(int* left) {
  if (--*left > 0) cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}

}  // namespace

namespace rangefinder::probe {

#define HANDLE(name)                           \
  void* name() {                               \
    return reinterpret_cast<void*>(&(::name)); \
  }
HANDLE(in_first)
HANDLE(in_second)
HANDLE(in_third)
HANDLE(in_even)
HANDLE(in_odd)
HANDLE(in_outer)
HANDLE(set_first)

cudaError_t load_other_kernels() {
  cudaFuncAttributes attributes{};
  cudaError_t result = cudaFuncGetAttributes(&attributes, ::in_reset);
  if (result == cudaSuccess) result = cudaFuncGetAttributes(&attributes, ::in_body);
  if (result == cudaSuccess) result = cudaFuncGetAttributes(&attributes, ::in_choose);
  if (result == cudaSuccess) result = cudaFuncGetAttributes(&attributes, ::in_again);
  return result;
}

cudaError_t launch_reset(int* left, int runs, cudaStream_t stream) {
  ::in_reset<<<1, 1, 0, stream>>>(left, runs);
  return cudaGetLastError();
}

cudaError_t launch_body(int* left, cudaGraphConditionalHandle handle, cudaStream_t stream) {
  ::in_body<<<1, 1, 0, stream>>>(left, handle);
  return cudaGetLastError();
}

cudaError_t launch_again(int* left, cudaStream_t stream) {
  ::in_again<<<1, 1, 0, stream>>>(left);
  return cudaGetLastError();
}

cudaError_t launch_choose(unsigned* round, unsigned choices, cudaGraphConditionalHandle handle,
                          cudaStream_t stream) {
  ::in_choose<<<1, 1, 0, stream>>>(round, choices, handle);
  return cudaGetLastError();
}

}  // namespace rangefinder::probe
