// SPDX-License-Identifier: Apache-2.0
//
// Multiplies all of K with Hopper's warpgroup MMA (wgmma): compute capability 9.0 only, fp16 and bf16.
//
// A warpgroup (four warps) owns 64 * kBlocksDown rows and all columns of the tile. Operands stay in shared
// memory; the loader writes them in the 128-byte swizzle that the descriptors name. wgmma runs while this
// block waits for cp.async loads and starts the next ones: one stage's products are always in flight.
#pragma once

#include "kernels/gemm/epilogue.cuh"
#include "kernels/gemm/tile_loader.cuh"
#include "kernels/gemm/wgmma_instructions.cuh"

namespace rangefinder::kernels {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
inline constexpr bool kHasWgmma = true;
#else
inline constexpr bool kHasWgmma = false;
#endif

/// Descriptor of a matrix with 128-byte rows, groups of 8 rows 1024 bytes apart, 128-byte swizzle.
__device__ __forceinline__ std::uint64_t matrix_descriptor(unsigned address) {
  constexpr std::uint64_t kSwizzle128 = std::uint64_t{1} << 62;
  constexpr std::uint64_t kEightRows = std::uint64_t{8 * kStageRowBytes / 16} << 32;
  constexpr std::uint64_t kUnusedWithSwizzle = std::uint64_t{1} << 16;
  return kSwizzle128 | kEightRows | kUnusedWithSwizzle | ((address >> 4) & 0x3FFF);
}

template <typename MemoryElement, int kGroups, int kBlocksDown, int kColumns>
struct WgmmaEngine {
  using Element = MemoryElement;
  static constexpr int kTileRows = 64 * kGroups * kBlocksDown;
  static constexpr int kTileColumns = kColumns;
  static constexpr int kThreads = 128 * kGroups;
  static constexpr int kBlockAccumulators = kColumns / 2;  ///< for 64 rows
  static constexpr int kAccumulators = kBlocksDown * kBlockAccumulators;
  static constexpr bool kIsAsync = true;

  static __device__ __forceinline__ int first_row() {
    return static_cast<int>(threadIdx.x) / 128 * 64 * kBlocksDown;
  }

  /// Starts the products of one stage.
  static __device__ __forceinline__ void multiply(float (&sums)[kAccumulators], unsigned a, unsigned b) {
    if constexpr (kHasWgmma) {
      const std::uint64_t rows = matrix_descriptor(a + first_row() * kStageRowBytes);
      const std::uint64_t columns = matrix_descriptor(b);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int step = 0; step < kBlockChunks / 2; ++step)
#pragma unroll
        for (int down = 0; down < kBlocksDown; ++down)
          multiply_add_group<kColumns>(Element{}, sums + down * kBlockAccumulators,
                                       rows + step * 2 + down * (64 * kStageRowBytes / 16),
                                       columns + step * 2);
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    }
  }

  template <int kPending>
  static __device__ __forceinline__ void wait_for_products(float (&sums)[kAccumulators]) {
    if constexpr (kHasWgmma) {
      asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
      if constexpr (kPending == 0) {
        // Keeps the compiler from reading sums before the wait.
#pragma unroll
        for (int i = 0; i < kAccumulators; ++i) asm volatile("" : "+f"(sums[i])::"memory");
      }
    }
  }

  /// Stages that are not loaded ahead: one is being read, and one may still be read by wgmma in flight.
  static constexpr int kStagesNotAhead = 2;

  template <int kStages, class Loader>
  static __device__ __forceinline__ void run(const ImplicitGemm& gemm, Loader& loader, unsigned ring,
                                             int blocks, float (&sums)[kAccumulators]) {
    constexpr int kAhead = kStages - kStagesNotAhead;
    static_assert(kAhead > 0, "too few stages to load ahead");
    int reading = 0;
    int writing = kAhead;
#pragma unroll 1
    for (int block = 0; block < blocks; ++block) {
      wait_for_copies<kAhead - 1>();
      // cp.async writes through the generic proxy; wgmma reads through the asynchronous proxy.
      if constexpr (kHasWgmma) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      __syncthreads();
      const unsigned a = ring + reading * Loader::kStageBytes;
      multiply(sums, a, a + kTileRows * kStageRowBytes);
      if (block + kAhead < blocks) loader.load(gemm, ring + writing * Loader::kStageBytes);
      commit_copies();
      wait_for_products<1>(sums);
      reading = reading + 1 == kStages ? 0 : reading + 1;
      writing = writing + 1 == kStages ? 0 : writing + 1;
    }
    wait_for_products<0>(sums);
  }

  static __device__ __forceinline__ void to_tile(const float (&sums)[kAccumulators], float* tile) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
    constexpr int kStride = kColumns + kTilePadding;
    float* const corner = tile + (first_row() + warp * 16 + lane / 4) * kStride + lane % 4 * 2;
#pragma unroll
    for (int down = 0; down < kBlocksDown; ++down)
#pragma unroll
      for (int j = 0; j < kColumns / 8; ++j) {
        const float* const sum = sums + down * kBlockAccumulators + j * 4;
        float* const at = corner + down * 64 * kStride + j * 8;
        *reinterpret_cast<float2*>(at) = make_float2(sum[0], sum[1]);
        *reinterpret_cast<float2*>(at + 8 * kStride) = make_float2(sum[2], sum[3]);
      }
  }
};

}  // namespace rangefinder::kernels
