// SPDX-License-Identifier: Apache-2.0
#include "workloads/probes/kernels.h"

namespace rangefinder::probe {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::size_t kMaxBlocks = 132 * 32;  // several waves on an H200; the rest is the grid-stride loop

__global__ void probe_empty() {}

__global__ void __launch_bounds__(kThreads)
    probe_copy(uint4* target, const uint4* source, std::size_t count) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    target[i] = source[i];
  }
}

// Every load contributes to the result, so none can be optimised away. One atomic per warp: a few KiB of
// traffic on one L2 line, negligible beside a read of a MiB or more.
__global__ void __launch_bounds__(kThreads)
    probe_read(unsigned long long* result, const uint4* source, std::size_t count) {
  unsigned long long mix = 0;
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const uint4 v = source[i];
    mix ^= (static_cast<unsigned long long>(v.x ^ v.z) << 32) | (v.y ^ v.w);
  }
  for (int lane = 16; lane > 0; lane /= 2) mix ^= __shfl_xor_sync(0xffffffffu, mix, lane);
  if (threadIdx.x % 32 == 0) atomicXor(result, mix);
}

__global__ void __launch_bounds__(kThreads) probe_write(uint4* target, std::size_t count, unsigned value) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const unsigned word = value ^ static_cast<unsigned>(i);
    target[i] = make_uint4(word, word + 1, word + 2, word + 3);
  }
}

__device__ unsigned scrambled(unsigned x) {  // a 32-bit finaliser: every input bit reaches every output bit
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

__global__ void __launch_bounds__(kThreads) probe_random(uint4* target, std::size_t count, unsigned seed) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const unsigned word = static_cast<unsigned>(i) * 4u + seed;
    target[i] = make_uint4(scrambled(word), scrambled(word + 1), scrambled(word + 2), scrambled(word + 3));
  }
}

__global__ void __launch_bounds__(kThreads) probe_increment(unsigned* words, std::size_t count) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) ++words[i];
}

__global__ void probe_spin(unsigned long long duration_ns) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < duration_ns);
}

unsigned blocks_for(std::size_t count, unsigned most_blocks = 0) {
  const std::size_t blocks = (count + kThreads - 1) / kThreads;
  const std::size_t most = most_blocks == 0 ? kMaxBlocks : most_blocks;
  return static_cast<unsigned>(blocks < most ? (blocks > 0 ? blocks : 1) : most);
}

}  // namespace

cudaError_t launch_empty(unsigned blocks, cudaStream_t stream) {
  probe_empty<<<blocks, 32, 0, stream>>>();
  return cudaGetLastError();
}

void* empty_kernel() {
  return reinterpret_cast<void*>(&probe_empty);
}

cudaError_t launch_copy(void* target, const void* source, std::size_t bytes, cudaStream_t stream,
                        unsigned most_blocks) {
  const std::size_t count = bytes / sizeof(uint4);
  probe_copy<<<blocks_for(count, most_blocks), kThreads, 0, stream>>>(
      static_cast<uint4*>(target), static_cast<const uint4*>(source), count);
  return cudaGetLastError();
}

cudaError_t launch_read(std::uint64_t* result, const void* source, std::size_t bytes, cudaStream_t stream,
                        unsigned most_blocks) {
  const std::size_t count = bytes / sizeof(uint4);
  probe_read<<<blocks_for(count, most_blocks), kThreads, 0, stream>>>(
      reinterpret_cast<unsigned long long*>(result), static_cast<const uint4*>(source), count);
  return cudaGetLastError();
}

cudaError_t launch_write(void* target, std::size_t bytes, std::uint32_t value, cudaStream_t stream,
                         unsigned most_blocks) {
  const std::size_t count = bytes / sizeof(uint4);
  probe_write<<<blocks_for(count, most_blocks), kThreads, 0, stream>>>(static_cast<uint4*>(target), count,
                                                                       value);
  return cudaGetLastError();
}

cudaError_t launch_random(void* target, std::size_t bytes, std::uint32_t seed, cudaStream_t stream) {
  const std::size_t count = bytes / sizeof(uint4);
  probe_random<<<blocks_for(count), kThreads, 0, stream>>>(static_cast<uint4*>(target), count, seed);
  return cudaGetLastError();
}

cudaError_t launch_increment(std::uint32_t* words, std::size_t count, cudaStream_t stream) {
  probe_increment<<<blocks_for(count), kThreads, 0, stream>>>(words, count);
  return cudaGetLastError();
}

cudaError_t launch_spin(std::uint64_t duration_ns, cudaStream_t stream) {
  probe_spin<<<1, 1, 0, stream>>>(duration_ns);
  return cudaGetLastError();
}

}  // namespace rangefinder::probe
