// SPDX-License-Identifier: Apache-2.0
//
// TMA loads of one block of K, for a tile whose rows are a patch of pixels (tensor_maps.h).
#pragma once

#include "kernels/gemm/implicit_gemm.h"
#include "kernels/gemm/tensor_maps.h"
#include "kernels/gemm/tma_instructions.cuh"

namespace rangefinder::kernels {

inline constexpr int kBlockChannels = 64;  ///< per stage, elements of 2 bytes

/// The patch of a tile; maps each of its pixels to a row of the product.
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

/// Loads block `block` of K. Adjacent taps follow each other, as in tile_loader.cuh.
__device__ __forceinline__ void load_input_boxes(const ImplicitGemm& gemm, const TensorMaps& maps,
                                                 const Patch& patch, int block, unsigned shared,
                                                 unsigned barrier) {
  const int first_blocks = gemm.taps() * gemm.channel_chunks / kBlockChunks;
  if (block >= first_blocks) {
    load_box(shared, maps.second_input, barrier, (block - first_blocks) * kBlockChannels, patch.x, patch.y,
             patch.image);
    return;
  }
  const int channel_block = block / gemm.taps();
  const int tap = block - channel_block * gemm.taps();
  const int line = tap / gemm.kernel_size;
  const int pad = gemm.kernel_size / 2;
  load_box(shared, maps.input, barrier, channel_block * kBlockChannels,
           patch.x * gemm.stride + tap - line * gemm.kernel_size - pad, patch.y * gemm.stride + line - pad,
           patch.image);
}

__device__ __forceinline__ void load_weight_boxes(const ImplicitGemm& gemm, const TensorMaps& maps,
                                                  int first_column, int block, unsigned shared,
                                                  unsigned barrier) {
  const int first_blocks = gemm.taps() * gemm.channel_chunks / kBlockChunks;
  const int channel_block = block / gemm.taps();
  const int tap = block - channel_block * gemm.taps();
  const int position =
      block >= first_blocks ? block * kBlockChunks : tap * gemm.channel_chunks + channel_block * kBlockChunks;
  load_box(shared, maps.weight, barrier, position * 8, first_column, 0, 0);
}

}  // namespace rangefinder::kernels
