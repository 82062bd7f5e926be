// SPDX-License-Identifier: Apache-2.0
//
// The boxes of one block of K for a tile whose rows are a patch of pixels (tensor_maps.h).
#pragma once

#include "kernels/gemm/implicit_gemm.h"
#include "kernels/gemm/tensor_copies.cuh"
#include "kernels/gemm/tensor_maps.h"

namespace rangefinder::kernels {

inline constexpr int kBlockChannels = 64;  ///< of one stage, elements of 2 bytes

/// The patch of a tile, and the row of the product that each of its pixels is.
struct Patch {
  int image, y, x;  ///< first output pixel
  int box_width, box_pixels, width, height;

  __device__ Patch(const PatchGrid& grid, int patch) {
    const int of_image = grid.across * grid.down;
    image = patch / of_image;
    const int rest = patch - image * of_image;
    y = rest / grid.across * grid.box_height;
    x = rest % grid.across * grid.box_width;
    box_width = grid.box_width;
    box_pixels = grid.box_width * grid.box_height;
    width = grid.width;
    height = grid.height;
  }

  __device__ __forceinline__ int operator()(int row) const {
    const int down = row / box_width;
    const int pixel_y = y + down;
    const int pixel_x = x + row - down * box_width;
    const bool is_inside = row < box_pixels && pixel_y < height && pixel_x < width;
    return is_inside ? (image * height + pixel_y) * width + pixel_x : -1;
  }
};

/// Block `block` of K: neighbouring taps follow each other, as in tile_loader.cuh.
__device__ __forceinline__ void copy_inputs(const ImplicitGemm& gemm, const TensorMaps& maps,
                                            const Patch& patch, int block, unsigned shared,
                                            unsigned barrier) {
  const int first_blocks = gemm.taps() * gemm.channel_chunks / kBlockChunks;
  if (block >= first_blocks) {
    copy_box(shared, maps.second_input, barrier, (block - first_blocks) * kBlockChannels, patch.x, patch.y,
             patch.image);
    return;
  }
  const int channel_block = block / gemm.taps();
  const int tap = block - channel_block * gemm.taps();
  const int line = tap / gemm.kernel_size;
  const int pad = gemm.kernel_size / 2;
  copy_box(shared, maps.input, barrier, channel_block * kBlockChannels,
           patch.x * gemm.stride + tap - line * gemm.kernel_size - pad, patch.y * gemm.stride + line - pad,
           patch.image);
}

__device__ __forceinline__ void copy_weights(const ImplicitGemm& gemm, const TensorMaps& maps,
                                             int first_column, int block, unsigned shared, unsigned barrier) {
  const int first_blocks = gemm.taps() * gemm.channel_chunks / kBlockChunks;
  const int channel_block = block / gemm.taps();
  const int tap = block - channel_block * gemm.taps();
  const int position =
      block >= first_blocks ? block * kBlockChunks : tap * gemm.channel_chunks + channel_block * kBlockChunks;
  copy_box(shared, maps.weight, barrier, position * 8, first_column, 0, 0);
}

}  // namespace rangefinder::kernels
