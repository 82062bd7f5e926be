// SPDX-License-Identifier: Apache-2.0
//
// The matrix product that convolutions and linear layers share. Its left operand is gathered from
// channels-last activations while it is read.
//
//   gemm_launcher.cpp --------+                             +-> gemm_simt.cu        fp32
//                             +-> ImplicitGemm -> launch ---+-> gemm_mma_tf32.cu    tf32
//   convolution_launcher.cpp -+   (this file)               +-> gemm_mma_16bit.cu   fp16, bf16
//                                                           +-> gemm_wgmma.cu       fp16, bf16 on 9.0
//                                                           +-> gemm_tma.cu         fp16, bf16, TMA loads
//                                                           +-> convolution_halo.cu fp16, bf16, few channels
//
//   row m of A     output pixel: image m / pixels, then y, x;  in a linear layer a row
//   column k of A  (tap, channel) of the input, followed by the channels of the second input
//   row n of B     weights of output channel n, in the same order of k
//
// Loads count in chunks of 16 bytes, stores in elements. Kernels get the struct by value. It checks nothing:
// the two launchers have done so.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/activation.h"
#include "kernels/element_type.h"
#include "kernels/workspace.h"

namespace rangefinder::kernels {

inline constexpr int kChunkBytes = 16;
inline constexpr int kBlockChunks = 8;  ///< K of one pipeline stage: 128 bytes of each row

/// Whether vector loads and TMA loads may begin at `data`.
inline bool is_chunk_aligned(const void* data) {
  return reinterpret_cast<std::uintptr_t>(data) % kChunkBytes == 0;
}

/// Rows of an epilogue operand: element (image, pixel, n) is data[image * image_step + pixel * pixel_step +
/// n].
struct TileOperand {
  const void* data = nullptr;
  std::int64_t image_step = 0;
  std::int64_t pixel_step = 0;
};

/// n / divisor by a multiplication, for 0 <= n < 2^31. Prologue and epilogue divide for every row.
struct FastDivisor {
  unsigned divisor = 1;
  unsigned multiplier = 1;
  unsigned shift = 0;

  constexpr FastDivisor() = default;
  constexpr explicit FastDivisor(int value) : divisor(static_cast<unsigned>(value)) {
    while ((1ull << shift) < divisor) ++shift;
    multiplier = static_cast<unsigned>(((1ull << 32) * ((1ull << shift) - divisor)) / divisor + 1);
  }
};

struct ImplicitGemm {
  int rows = 0;     ///< M of one group: images * pixels
  int columns = 0;  ///< N
  int groups = 1;   ///< products with separate weights; each has one image if there are several
  int pixels = 1;   ///< rows of one image
  FastDivisor by_pixels;
  FastDivisor by_output_width;

  const void* input = nullptr;
  const void* alternate_input = nullptr;  ///< replaces `input` for tiles from this column on
  int alternate_from_column = 0;
  int image_step = 0;  ///< chunks
  int line_step = 0;   ///< chunks between input pixels of adjacent lines
  int pixel_step = 0;  ///< chunks
  int input_height = 1;
  int input_width = 1;
  int output_width = 1;
  int kernel_size = 1;
  int stride = 1;
  int channel_chunks = 0;  ///< of the input

  const void* second_input = nullptr;
  int second_image_step = 0;  ///< chunks
  int second_pixel_step = 0;  ///< chunks
  int second_chunks = 0;      ///< 0: absent

  const void* weight = nullptr;
  int weight_row_step = 0;  ///< chunks

  const std::uint8_t* row_valid = nullptr;
  int row_valid_period = 1;

  std::int64_t input_group_step = 0;   ///< chunks
  std::int64_t weight_group_step = 0;  ///< chunks
  std::int64_t residual_group_step = 0;
  std::int64_t output_group_step = 0;

  const float* bias = nullptr;
  TileOperand residual;
  bool residual_after_activation = false;
  TileOperand addend;    ///< of half the output's height and width
  int addend_width = 0;  ///< pixels
  void* output = nullptr;
  std::int64_t output_image_step = 0;
  std::int64_t output_pixel_step = 0;
  bool output_is_fp32 = false;      ///< for a 16-bit element; else the output has the element's type
  bool residual_in_shared = false;  ///< loaded with the first stages, if shared memory has room
  int residual_place = 0;           ///< offset from the ring in bytes
  bool vectorised = false;          ///< residual, addend and output allow accesses of 16 bytes
  Activation activation = Activation::none;

  bool taps_inner = false;  ///< K order is (block of channels, tap), so that adjacent taps hit L1
  int blocks_k = 0;         ///< pipeline stages of the whole K
  int splits_k = 1;
  int blocks_per_split = 0;
  float* partial_sums = nullptr;
  unsigned* counters = nullptr;
  int multiprocessors = 0;
  bool may_start_early = false;  ///< before the preceding kernel on the stream has ended

  constexpr int taps() const { return kernel_size * kernel_size; }
  constexpr int depth_chunks() const { return taps() * channel_chunks + second_chunks; }
};

/// How a kernel tiles the product. Costs are those of the launcher's model, in nanoseconds.
struct TileShape {
  int rows;
  int columns;
  int threads;
  int stages;
  int blocks_per_sm;
  float block_ns;            ///< one stage of K, per block, on a multiprocessor full of such blocks
  float latency_ns;          ///< one stage of K for a block that is alone
  float fixed_ns;            ///< before the first and after the last stage
  bool has_patches = false;  ///< rows of a tile are a patch of pixels: edge tiles are not full
};

using TileLauncher = cudaError_t (*)(const ImplicitGemm& gemm, cudaStream_t stream);

struct Tile {
  TileShape shape;
  TileLauncher launch;
  bool (*serves)(const ImplicitGemm& gemm) = nullptr;  ///< nullptr: every product
  int shared_bytes = 0;                                ///< needed per block
  bool splits_k = true;
};

struct TileList {
  const Tile* tiles = nullptr;
  int count = 0;
};

TileList simt_tiles();
TileList mma_tiles(ElementType element);    ///< tf32, fp16, bf16
TileList halo_tiles(ElementType element);   ///< fp16, bf16: 3x3 with few channels (convolution_halo.cu)
TileList tma_tiles(ElementType element);    ///< fp16, bf16 on 9.0: channels in multiples of 64 (gemm_tma.cu)
TileList wgmma_tiles(ElementType element);  ///< fp16, bf16; none for the others

/// What the caller requests, and the workspace it lends.
struct LaunchChoice {
  int tile = -1;     ///< -1: the launcher chooses
  int splits_k = 0;  ///< 0: the launcher chooses
  Workspace workspace;
};

/// Tiles for `element` on the current device, those of every device first; 0 without a device.
int implicit_gemm_tiles(ElementType element);

/// Workspace for the tile and the splits that the launcher takes if memory does not limit it.
std::size_t implicit_gemm_workspace_bytes(ElementType element, const ImplicitGemm& gemm, LaunchChoice choice);

/// Plans the splits of K and launches. cudaErrorInvalidValue: no such tile, or splits that do not fit.
cudaError_t launch_implicit_gemm(ElementType element, ImplicitGemm gemm, const LaunchChoice& choice,
                                 cudaStream_t stream);

}  // namespace rangefinder::kernels
