// SPDX-License-Identifier: Apache-2.0
//
// Global memory to shared memory: one stage of K (128 bytes) of BM gathered rows of A and BN rows of B.
//
//   stage:  [BM + BN rows][8 chunks of 16 bytes],  chunk c of row r is at c ^ (r & 7)
//
// This swizzle makes ldmatrix, the float4 reads of gemm_simt and wgmma free of bank conflicts; it is also
// the 128-byte swizzle of wgmma's descriptors. A thread loads one chunk column of every (threads / 8)-th
// row, so it tracks one position in K and an offset per row. cp.async itself fills rows outside the image
// and chunks past K with zeros.
#pragma once

#include "kernels/async_copy.cuh"
#include "kernels/dependent_launch.cuh"
#include "kernels/gemm/implicit_gemm.h"

namespace rangefinder::kernels {

__device__ __forceinline__ int divided(int value, const FastDivisor& by) {
  const unsigned n = static_cast<unsigned>(value);
  return static_cast<int>((__umulhi(n, by.multiplier) + n) >> by.shift);
}

inline constexpr int kStageRowBytes = kBlockChunks * kChunkBytes;

template <int kTileRows, int kTileColumns, int kThreads>
class TileLoader {
 public:
  static constexpr int kStageBytes = (kTileRows + kTileColumns) * kStageRowBytes;

  /// `first_block`: the thread block's start in K, in stages.
  __device__ TileLoader(const ImplicitGemm& gemm, int first_column, int group, int first_block)
      : lane_(static_cast<int>(threadIdx.x) % kBlockChunks),
        row_(static_cast<int>(threadIdx.x) / kBlockChunks) {
    const bool is_alternate = gemm.alternate_input != nullptr && first_column >= gemm.alternate_from_column;
    input_ = static_cast<const char*>(is_alternate ? gemm.alternate_input : gemm.input) +
             group * gemm.input_group_step * kChunkBytes;
    const int column = first_column + row_;
    columns_left_ = gemm.columns - column;
    weight_ = static_cast<const char*>(gemm.weight) +
              (group * gemm.weight_group_step + static_cast<std::int64_t>(column) * gemm.weight_row_step) *
                  kChunkBytes;
    seek(gemm, first_block);
  }

  /// Loads the first stages of the ring, one commit group each. Weights load before the previous kernel has
  /// ended. Its results, and anything that it may still read, load after that.
  template <int kAhead>
  __device__ __forceinline__ void fill(const ImplicitGemm& gemm, unsigned ring, int first_row,
                                       int first_block, int blocks) {
#pragma unroll 1
    for (int stage = 0; stage < min(kAhead, blocks); ++stage) {
      load_weights(gemm, ring + stage * kStageBytes);
      advance(gemm);
    }
#pragma unroll
    for (int i = 0; i < kRowsOfA; ++i) find_row(gemm, i, first_row + row_ + i * kRowsPerPass);
    seek(gemm, first_block);
    wait_for_predecessor();
    mask_rows(gemm, first_row);
#pragma unroll 1
    for (int stage = 0; stage < kAhead; ++stage) {
      if (stage < blocks) {
        load_inputs(gemm, ring + stage * kStageBytes);
        advance(gemm);
      }
      commit_copies();
    }
  }

  /// Starts the loads of the next stage of K to `stage`, and advances.
  __device__ __forceinline__ void load(const ImplicitGemm& gemm, unsigned stage) {
    load_inputs(gemm, stage);
    load_weights(gemm, stage);
    advance(gemm);
  }

  /// Separate from load_weights(), so that fill() can load weights before the previous kernel has ended.
  __device__ __forceinline__ void load_inputs(const ImplicitGemm& gemm, unsigned stage) {
    const bool is_second = tap_ == gemm.taps();
    const char* const base = is_second ? static_cast<const char*>(gemm.second_input) : input_;
    const int line = gemm.kernel_size == 3 ? tap_ / 3 : 0;
    const int step = line * gemm.line_step + (tap_ - 3 * line) * gemm.pixel_step;
    const int shift = chunk_ + (is_second || gemm.kernel_size == 1 ? 0 : step);
    stage += place_in_stage();
#pragma unroll
    for (int i = 0; i < kRowsOfA; ++i) {
      const bool is_valid = ((taps_of_[i] >> tap_) & 1u) != 0;
      const int offset = (is_second ? second_[i] : first_[i]) + shift;
      copy_chunk_async(stage + i * kRowsPerPass * kStageRowBytes,
                       base + (is_valid ? static_cast<std::int64_t>(offset) * kChunkBytes : 0), is_valid);
    }
  }

  __device__ __forceinline__ void load_weights(const ImplicitGemm& gemm, unsigned stage) {
    const bool is_in_depth = tap_ < gemm.taps() || (tap_ == gemm.taps() && gemm.second_chunks > 0);
    const int column_offset = is_in_depth ? tap_ * gemm.channel_chunks + chunk_ : 0;
    stage += place_in_stage() + kTileRows * kStageRowBytes;
#pragma unroll
    for (int i = 0; i < kRowsOfB; ++i) {
      const bool is_valid = is_in_depth && i * kRowsPerPass < columns_left_;
      const std::int64_t offset =
          is_valid ? static_cast<std::int64_t>(i) * kRowsPerPass * gemm.weight_row_step + column_offset : 0;
      const char* const source = is_valid ? weight_ : static_cast<const char*>(gemm.weight);
      copy_chunk_async(stage + i * kRowsPerPass * kStageRowBytes, source + offset * kChunkBytes, is_valid);
    }
  }

 private:
  __device__ __forceinline__ unsigned place_in_stage() const {
    return static_cast<unsigned>(row_ * kStageRowBytes + ((lane_ ^ (row_ & 7)) * kChunkBytes));
  }

  static constexpr int kRowsPerPass = kThreads / kBlockChunks;
  static constexpr int kRowsOfA = kTileRows / kRowsPerPass;
  static constexpr int kRowsOfB = kTileColumns / kRowsPerPass;
  static_assert(kRowsPerPass % 8 == 0 && kRowsOfA > 0 && kRowsOfB > 0, "the swizzle repeats every 8 rows");

  /// Finds the offsets of row m, and a bit for each tap inside the image; bit taps(): the second input.
  __device__ __forceinline__ void find_row(const ImplicitGemm& gemm, int i, int m) {
    const int image = divided(m, gemm.by_pixels);
    const int pixel = m - image * gemm.pixels;
    const int y = divided(pixel, gemm.by_output_width);
    const int x = pixel - y * gemm.output_width;
    const int pad = gemm.kernel_size / 2;
    const int top = y * gemm.stride - pad;
    const int left = x * gemm.stride - pad;
    first_[i] = image * gemm.image_step + top * gemm.line_step + left * gemm.pixel_step;
    second_[i] = image * gemm.second_image_step + pixel * gemm.second_pixel_step;
    unsigned bits = 1;  // the only tap of a 1x1 is always inside
    if (gemm.kernel_size == 3) {
      // The middle tap is always inside, so only the first and the last column and line can be outside.
      const unsigned columns = (left >= 0 ? 0b011u : 0b010u) | (left + 2 < gemm.input_width ? 0b100u : 0u);
      bits = (top >= 0 ? columns : 0u) | columns << 3 | (top + 2 < gemm.input_height ? columns << 6 : 0u);
    }
    if (gemm.second_chunks > 0) bits |= 1u << gemm.taps();
    taps_of_[i] = m < gemm.rows ? bits : 0;
  }

  __device__ __forceinline__ void mask_rows(const ImplicitGemm& gemm, int first_row) {
    if (gemm.row_valid == nullptr) return;
#pragma unroll 1
    for (int i = 0; i < kRowsOfA; ++i) {
      const int m = first_row + row_ + i * kRowsPerPass;
      const int pixel = m - divided(m, gemm.by_pixels) * gemm.pixels;
      const bool counts = m < gemm.rows && gemm.row_valid[pixel % gemm.row_valid_period] != 0;
#pragma unroll
      for (int k = 0; k < kRowsOfA; ++k) taps_of_[k] = k == i && !counts ? 0 : taps_of_[k];
    }
  }

  __device__ __forceinline__ void seek(const ImplicitGemm& gemm, int block) {
    if (gemm.taps_inner) {
      const int blocks = gemm.taps() * gemm.channel_chunks / kBlockChunks;
      const bool is_second = block >= blocks;
      const int whole = block / gemm.taps();
      tap_ = is_second ? gemm.taps() : block - whole * gemm.taps();
      chunk_ = lane_ + kBlockChunks * (is_second ? block - blocks : whole);
      return;
    }
    const int position = block * kBlockChunks + lane_;
    tap_ = min(position / gemm.channel_chunks, gemm.taps());
    chunk_ = position - tap_ * gemm.channel_chunks;
    wrap(gemm);
  }

  __device__ __forceinline__ void advance(const ImplicitGemm& gemm) {
    if (gemm.taps_inner && tap_ < gemm.taps()) {
      if (++tap_ < gemm.taps()) return;
      chunk_ += kBlockChunks;
      tap_ = 0;
      if (chunk_ < gemm.channel_chunks) return;
      chunk_ = lane_;
      tap_ = gemm.taps();
    } else {
      chunk_ += kBlockChunks;
    }
    wrap(gemm);
  }

  /// At the end of a tap's channels, moves to the next tap. Past the last tap no bit is set: nothing is
  /// loaded.
  __device__ __forceinline__ void wrap(const ImplicitGemm& gemm) {
    while (tap_ <= gemm.taps()) {
      const int chunks = tap_ == gemm.taps() ? gemm.second_chunks : gemm.channel_chunks;
      if (chunk_ < chunks) return;
      chunk_ -= chunks;
      ++tap_;
    }
  }

  const char* input_;
  const char* weight_;
  int lane_;          // [0, 8): chunk column
  int row_;           // [0, kRowsPerPass)
  int columns_left_;  // columns of N from this thread's first row of B
  int tap_;           // [0, taps() + 1]; taps(): the second input
  int chunk_;         // within the tap
  int first_[kRowsOfA];
  int second_[kRowsOfA];
  unsigned taps_of_[kRowsOfA];
};

}  // namespace rangefinder::kernels
