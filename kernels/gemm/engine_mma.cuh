// SPDX-License-Identifier: Apache-2.0
//
// Multiplies one stage of K on tensor cores with mma.sync: compute capability 8.0 and up, fp16, bf16, tf32.
//
// A warp owns kWarpRows x kWarpColumns of the tile. ldmatrix loads the fragments; the loader has swizzled
// the chunks, so its eight rows are in different banks. For tf32 the same ldmatrix moves 4-byte elements: an
// 8x8 matrix of 2 bytes is one of 8x4 with 4 bytes, which is the fragment's layout. 32 bytes of K are 16
// elements of 2 bytes (m16n8k16) or 8 of 4 bytes (m16n8k8).
#pragma once

#include "kernels/gemm/epilogue.cuh"
#include "kernels/gemm/tile_loader.cuh"
#include "kernels/warp_matrix.cuh"

namespace rangefinder::kernels {

/// Rounds to nearest. Without it the tensor core truncates the lower bits, always towards zero.
__device__ __forceinline__ void round_fragment(Tf32, unsigned (&fragment)[4]) {
#pragma unroll
  for (unsigned& value : fragment)
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(value) : "f"(__uint_as_float(value)));
}
template <typename Element>
__device__ __forceinline__ void round_fragment(Element, unsigned (&)[4]) {}

template <typename MathElement, typename MemoryElement, int kRows, int kColumns, int kWarpsDown,
          int kWarpsAcross>
struct MmaEngine {
  using Element = MemoryElement;
  static constexpr int kTileRows = kRows;
  static constexpr int kTileColumns = kColumns;
  static constexpr int kThreads = 32 * kWarpsDown * kWarpsAcross;
  static constexpr int kWarpRows = kRows / kWarpsDown;
  static constexpr int kWarpColumns = kColumns / kWarpsAcross;
  static constexpr int kDown = kWarpRows / 16;
  static constexpr int kAcross = kWarpColumns / 8;
  static constexpr int kAccumulators = kDown * kAcross * 4;
  static constexpr bool kIsAsync = false;
  static constexpr int kStagesNotAhead = 1;
  static_assert(kWarpRows % 16 == 0 && kWarpColumns % 16 == 0, "a warp loads B for 16 columns at a time");

  static __device__ __forceinline__ int first_row() {
    return static_cast<int>(threadIdx.x) / 32 / kWarpsAcross * kWarpRows;
  }
  static __device__ __forceinline__ int first_column() {
    return static_cast<int>(threadIdx.x) / 32 % kWarpsAcross * kWarpColumns;
  }

  /// sums += A * B, with the stage's A at `a` and B at `b`.
  static __device__ __forceinline__ void multiply(float (&sums)[kAccumulators], unsigned a, unsigned b) {
    const unsigned lane = threadIdx.x % 32;
    a += (first_row() + (lane & 15)) * kStageRowBytes;
    b += (first_column() + (lane & 7) + ((lane >> 4) << 3)) * kStageRowBytes;
    const unsigned a_half = lane >> 4;
    const unsigned b_half = (lane >> 3) & 1;
#pragma unroll
    for (unsigned step = 0; step < kBlockChunks / 2; ++step) {
      unsigned a_fragments[kDown][4];
      unsigned b_fragments[kAcross / 2][4];
#pragma unroll
      for (int i = 0; i < kDown; ++i) {
        load_matrices(a_fragments[i],
                      a + i * 16 * kStageRowBytes + (((2 * step + a_half) ^ (lane & 7)) * kChunkBytes));
        round_fragment(MathElement{}, a_fragments[i]);
      }
#pragma unroll
      for (int j = 0; j < kAcross / 2; ++j) {
        load_matrices(b_fragments[j],
                      b + j * 16 * kStageRowBytes + (((2 * step + b_half) ^ (lane & 7)) * kChunkBytes));
        round_fragment(MathElement{}, b_fragments[j]);
      }
#pragma unroll
      for (int i = 0; i < kDown; ++i)
#pragma unroll
        for (int j = 0; j < kAcross; ++j)
          multiply_add(MathElement{}, sums + (i * kAcross + j) * 4, a_fragments[i],
                       b_fragments[j / 2][j % 2 * 2], b_fragments[j / 2][j % 2 * 2 + 1]);
    }
  }

  static __device__ __forceinline__ void to_tile(const float (&sums)[kAccumulators], float* tile) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    constexpr int kStride = kColumns + kTilePadding;
    float* const corner = tile + (first_row() + lane / 4) * kStride + first_column() + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < kDown; ++i)
#pragma unroll
      for (int j = 0; j < kAcross; ++j) {
        const float* const sum = sums + (i * kAcross + j) * 4;
        float* const at = corner + i * 16 * kStride + j * 8;
        *reinterpret_cast<float2*>(at) = make_float2(sum[0], sum[1]);
        *reinterpret_cast<float2*>(at + 8 * kStride) = make_float2(sum[2], sum[3]);
      }
  }
};

}  // namespace rangefinder::kernels
