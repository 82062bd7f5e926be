// SPDX-License-Identifier: Apache-2.0
//
// Multiplies one stage of K in fp32 on CUDA cores. A thread owns rows y, y + kDown, ... and columns x,
// x + kAcross, ... of the tile. So the float4 reads of a warp touch adjacent rows, whose chunks the
// loader's swizzle puts into different banks.
#pragma once

#include "kernels/gemm/epilogue.cuh"
#include "kernels/gemm/tile_loader.cuh"

namespace rangefinder::kernels {

__device__ __forceinline__ float4 read_chunk(unsigned address) {
  float4 value;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
               : "r"(address)
               : "memory");
  return value;
}

template <int kRows, int kColumns, int kThreadsDown, int kThreadsAcross>
struct SimtEngine {
  using Element = float;
  static constexpr int kTileRows = kRows;
  static constexpr int kTileColumns = kColumns;
  static constexpr int kThreads = kThreadsDown * kThreadsAcross;
  static constexpr int kDown = kRows / kThreadsDown;
  static constexpr int kAcross = kColumns / kThreadsAcross;
  static constexpr int kAccumulators = kDown * kAcross;
  static constexpr bool kIsAsync = false;
  static constexpr int kStagesNotAhead = 1;
  static_assert(kThreadsDown % 8 == 0 && kThreadsAcross % 8 == 0, "a thread's rows share their swizzle");

  static __device__ __forceinline__ unsigned x() { return threadIdx.x % kThreadsAcross; }
  static __device__ __forceinline__ unsigned y() { return threadIdx.x / kThreadsAcross; }

  static __device__ __forceinline__ void multiply(float (&sums)[kAccumulators], unsigned a, unsigned b) {
    a += y() * kStageRowBytes;
    b += x() * kStageRowBytes;
#pragma unroll 1
    for (unsigned chunk = 0; chunk < kBlockChunks; ++chunk) {
      float4 rows[kDown];
#pragma unroll
      for (int i = 0; i < kDown; ++i)
        rows[i] = read_chunk(a + i * kThreadsDown * kStageRowBytes + ((chunk ^ (y() & 7)) * kChunkBytes));
#pragma unroll
      for (int j = 0; j < kAcross; ++j) {
        const float4 column =
            read_chunk(b + j * kThreadsAcross * kStageRowBytes + ((chunk ^ (x() & 7)) * kChunkBytes));
#pragma unroll
        for (int i = 0; i < kDown; ++i) {
          float& sum = sums[i * kAcross + j];
          sum = fmaf(rows[i].x, column.x, sum);
          sum = fmaf(rows[i].y, column.y, sum);
          sum = fmaf(rows[i].z, column.z, sum);
          sum = fmaf(rows[i].w, column.w, sum);
        }
      }
    }
  }

  static __device__ __forceinline__ void to_tile(const float (&sums)[kAccumulators], float* tile) {
#pragma unroll
    for (int i = 0; i < kDown; ++i)
#pragma unroll
      for (int j = 0; j < kAcross; ++j)
        tile[(y() + i * kThreadsDown) * (kColumns + kTilePadding) + x() + j * kThreadsAcross] =
            sums[i * kAcross + j];
  }
};

}  // namespace rangefinder::kernels
