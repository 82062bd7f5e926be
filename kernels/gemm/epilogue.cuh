// SPDX-License-Identifier: Apache-2.0
//
// Epilogue of a tile: adds split-K sums in a fixed order, then bias, addends and activation, and stores.
//
//   accumulators -> (partial sums -> last block of the tile adds them, 0 first) -> tile in shared memory
//                -> a thread takes 8 columns of every (threads * 8 / BN)-th row -> 16-byte stores
//
// The tile reuses the shared memory of the pipeline stages. Rows are padded by 8 floats, so the 8-byte
// stores of accumulators have no bank conflicts.
#pragma once

#include "kernels/gemm/element_access.cuh"
#include "kernels/gemm/implicit_gemm.h"
#include "kernels/gemm/tile_loader.cuh"

namespace rangefinder::kernels {

inline constexpr int kTilePadding = 8;  ///< floats

/// Adds up the splits of this tile. Returns true in the last block, whose accumulators then hold the sum.
template <int kThreads, int kAccumulators>
__device__ bool add_splits(const ImplicitGemm& gemm, float (&sums)[kAccumulators], int tile, int split) {
  static_assert(kAccumulators % 4 == 0, "partial sums move in 16-byte words");
  constexpr int kVectors = kAccumulators / 4;
  __shared__ bool is_last;
  float4* const partials = reinterpret_cast<float4*>(gemm.partial_sums) +
                           static_cast<std::int64_t>(tile) * gemm.splits_k * kVectors * kThreads +
                           threadIdx.x;
  float4* const own = partials + static_cast<std::int64_t>(split) * kVectors * kThreads;
#pragma unroll
  for (int i = 0; i < kVectors; ++i)
    __stcg(own + i * kThreads, make_float4(sums[4 * i], sums[4 * i + 1], sums[4 * i + 2], sums[4 * i + 3]));
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0)
    is_last = atomicAdd(gemm.counters + tile, 1u) == static_cast<unsigned>(gemm.splits_k - 1);
  __syncthreads();
  if (!is_last) return false;
  __threadfence();
  if (threadIdx.x == 0) gemm.counters[tile] = 0;  // for the next launch on this stream
    // Reads all splits from memory, this block's own too: the order must not depend on which block is last.
#pragma unroll
  for (int i = 0; i < kAccumulators; ++i) sums[i] = 0;
  for (int from = 0; from < gemm.splits_k; ++from) {
    const float4* const part = partials + static_cast<std::int64_t>(from) * kVectors * kThreads;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const float4 value = __ldcg(part + i * kThreads);
      sums[4 * i] += value.x, sums[4 * i + 1] += value.y;
      sums[4 * i + 2] += value.z, sums[4 * i + 3] += value.w;
    }
  }
  return true;
}

/// One cache line for 32 columns: the bias is in L1 when the sums are ready.
template <int kTileColumns>
__device__ __forceinline__ void prefetch_bias(const ImplicitGemm& gemm, int first_column) {
  const int column = first_column + static_cast<int>(threadIdx.x) * 32;
  if (gemm.bias != nullptr && threadIdx.x < kTileColumns / 32 && column < gemm.columns)
    asm volatile("prefetch.global.L1 [%0];" ::"l"(gemm.bias + column));
}

/// Maps a row of the tile to a row of the product; -1: none.
struct ConsecutiveRows {
  int first;
  int count;  ///< rows of the product
  __device__ __forceinline__ int operator()(int row) const { return first + row < count ? first + row : -1; }
};

/// Starts the cp.async loads of the residual's (BM, BN) to shared memory; they join the next commit group.
template <class Engine, class Rows>
__device__ __forceinline__ void fetch_residual(const ImplicitGemm& gemm, unsigned shared, const Rows& rows,
                                               int first_column, int group) {
  using Element = typename Engine::Element;
  constexpr int kInChunk = kChunkBytes / static_cast<int>(sizeof(Element));
  constexpr int kChunks = Engine::kTileColumns / kInChunk;
  const int column = static_cast<int>(threadIdx.x) % kChunks * kInChunk;
  const Element* const source = static_cast<const Element*>(gemm.residual.data) +
                                group * gemm.residual_group_step + first_column + column;
  const bool is_inside = first_column + column + kInChunk <= gemm.columns;
  for (int row = static_cast<int>(threadIdx.x) / kChunks; row < Engine::kTileRows;
       row += Engine::kThreads / kChunks) {
    const int m = rows(row);
    if (!is_inside || m < 0) continue;
    const int image = divided(m, gemm.by_pixels);
    const int pixel = m - image * gemm.pixels;
    const Element* const from = source + image * gemm.residual.image_step + pixel * gemm.residual.pixel_step;
    copy_chunk_async(shared + (row * Engine::kTileColumns + column) * static_cast<int>(sizeof(Element)), from,
                     true);
  }
}

/// The epilogue operands at a thread's columns.
template <typename Element>
struct EpilogueColumns {
  const Element* residual;  ///< nullptr: absent
  const Element* addend;    ///< nullptr: absent
  std::int64_t output;      ///< elements from gemm.output
  int count;                ///< columns left, at most 8
  bool is_whole;            ///< all 8 columns, 16-byte accesses
  float bias[kVector];

  __device__ EpilogueColumns(const ImplicitGemm& gemm, int column, int group) {
    count = min(kVector, gemm.columns - column);
    is_whole = gemm.vectorised && count == kVector;
    residual = static_cast<const Element*>(gemm.residual.data);
    if (residual != nullptr) residual += group * gemm.residual_group_step + column;
    addend = static_cast<const Element*>(gemm.addend.data);
    if (addend != nullptr) addend += column;
    output = group * gemm.output_group_step + column;
#pragma unroll
    for (int i = 0; i < kVector; ++i)
      bias[i] = gemm.bias != nullptr && i < count ? gemm.bias[column + i] : 0.0f;
  }
};

template <typename Element>
__device__ __forceinline__ void finish_row(const ImplicitGemm& gemm, const EpilogueColumns<Element>& columns,
                                           const float* sums, int image, int pixel,
                                           const float (&residual)[kVector]) {
  float values[kVector];
  widen(sums, values);
#pragma unroll
  for (int i = 0; i < kVector; ++i) values[i] += columns.bias[i];
  if (columns.addend != nullptr) {
    const int y = divided(pixel, gemm.by_output_width);
    const int x = pixel - y * gemm.output_width;
    const int coarse = (y / 2) * gemm.addend_width + x / 2;
    float addend[kVector];
    widen_some(columns.addend + image * gemm.addend.image_step + coarse * gemm.addend.pixel_step,
               columns.count, columns.is_whole, addend);
#pragma unroll
    for (int i = 0; i < kVector; ++i) values[i] += addend[i];
  }
  const bool is_after = gemm.residual_after_activation;
#pragma unroll
  for (int i = 0; i < kVector; ++i) values[i] += is_after ? 0.0f : residual[i];
  activate(gemm.activation, values);
#pragma unroll
  for (int i = 0; i < kVector; ++i) values[i] += is_after ? residual[i] : 0.0f;
  const std::int64_t offset =
      columns.output + image * gemm.output_image_step + pixel * gemm.output_pixel_step;
  if (gemm.output_is_fp32)
    narrow_some(values, columns.count, columns.is_whole, static_cast<float*>(gemm.output) + offset);
  else
    narrow_some(values, columns.count, columns.is_whole, static_cast<Element*>(gemm.output) + offset);
}

/// `tile`: (BM, BN + padding) in shared memory; `fetched`: the residual, (BM, BN) there too, or nullptr.
/// Residuals from global memory are loaded for kInFlight rows at a time.
template <typename Element, int kTileRows, int kTileColumns, int kThreads, class Rows>
__device__ void store_tile(const ImplicitGemm& gemm, const float* tile, const Element* fetched,
                           const Rows& rows, int first_column, int group) {
  constexpr int kVectors = kTileColumns / kVector;
  constexpr int kRowsPerPass = kThreads / kVectors;
  constexpr int kInFlight = kTileRows / kRowsPerPass < 4 ? kTileRows / kRowsPerPass : 4;
  static_assert(kInFlight > 0 && kTileRows % (kRowsPerPass * kInFlight) == 0, "a tile is whole passes");
  const int local_column = static_cast<int>(threadIdx.x) % kVectors * kVector;  // [0, BN)
  if (first_column + local_column >= gemm.columns) return;
  const EpilogueColumns<Element> columns(gemm, first_column + local_column, group);
  for (int row = static_cast<int>(threadIdx.x) / kVectors; row < kTileRows; row += kRowsPerPass * kInFlight) {
    int product_row[kInFlight];
    int image[kInFlight];
    int pixel[kInFlight];
    float residual[kInFlight][kVector];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const int m = product_row[i] = rows(row + i * kRowsPerPass);
      image[i] = divided(m, gemm.by_pixels);
      pixel[i] = m - image[i] * gemm.pixels;
#pragma unroll
      for (int k = 0; k < kVector; ++k) residual[i][k] = 0;
      if (fetched != nullptr && columns.is_whole)
        widen(fetched + (row + i * kRowsPerPass) * kTileColumns + local_column, residual[i]);
      else if (columns.residual != nullptr && m >= 0)
        widen_some(
            columns.residual + image[i] * gemm.residual.image_step + pixel[i] * gemm.residual.pixel_step,
            columns.count, columns.is_whole, residual[i]);
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const float* const sums =
          tile + (row + i * kRowsPerPass) * (kTileColumns + kTilePadding) + local_column;
      if (product_row[i] >= 0) finish_row(gemm, columns, sums, image[i], pixel[i], residual[i]);
    }
  }
}

}  // namespace rangefinder::kernels
