// SPDX-License-Identifier: Apache-2.0
#include "kernels/dependent_launch.cuh"
#include "kernels/packed_elements.cuh"
#include "kernels/stem/stem.h"
#include "kernels/stem/stem_arguments.h"
#include "kernels/warp_matrix.cuh"

namespace rangefinder::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kTaps = 27;
constexpr int kGroup = 32;        // output channels per warp: 4 tiles of 8
constexpr int kTilePixels = 16;   // rows of an mma tile
constexpr int kTilesPerWarp = 4;  // reuse of a warp's weights

__device__ __forceinline__ float relu(float value) {
  return value < 0.0f ? 0.0f : value;  // propagates NaN
}

/// Weight (output channel o, row r, k = 4 * column + channel) as 16 bits; zero outside the kernel.
template <typename Element>
__device__ __forceinline__ unsigned weight_bits(const StemArgs& args, int o, int r, int k) {
  if (o >= args.output.channels || k / 4 >= 3 || k % 4 >= 3) return 0;
  return reinterpret_cast<const unsigned short*>(args.weight)[o * kTaps + r * 9 + k / 4 * 3 + k % 4];
}

/// Two adjacent elements of pixel (y, x), from `channel` on; channel 3 is padding and becomes 0.
template <typename Element>
__device__ __forceinline__ unsigned pixel_bits(const Element* image, const NhwcInput& input, int y, int x,
                                               int channel, bool is_there) {
  if (!is_there || y < 0 || x < 0) return 0;
  const unsigned bits =
      *reinterpret_cast<const unsigned*>(image + (y * input.width + x) * kPixelStride + channel);
  return channel == 0 ? bits : bits & 0xFFFFu;
}

// First convolution, 16-bit types, on tensor cores: rows of the mma are output pixels, k is one row of
// the window.
//
//   out[n,y,x,o] = max(0, bias[o] + sum_{r,q,c<3} weight[o,r,q,c] * input[n, 2y + r - 1, 2x + q - 1, c])
//
// Shapes   input: (N, 2H, 2W, 4), the fourth element is masked; weight: (O, 3, 3, 3); output: (N, H, W, O)
// Tiling   a warp owns 16 pixels of an output row by 32 channels. The window's row of 3 pixels by 4
//          elements is k = [0, 12) of one m16n8k16 step, 3 steps in all. Weights stay in registers for
//          kTilesPerWarp tiles; pixels are loaded from L1, 4 bytes a lane.
//          Columns of the four n-tiles are permuted so that a lane's 8 sums are adjacent channels:
//          column n of tile j is channel (n / 2) * 8 + j * 2 + n % 2, stored as one 16-byte word.
// Bytes    3.3 MB read, 6.6 MB written at batch 1, 640x640, 32 channels: bound by the writes.
// Numerics fp32 sums; bias added in fp32.
// Checked  tests/kernels/stem_check.cpp against stem_reference.cpp: 5e-6 + one rounding of the type.
template <typename Element>
__global__ void __launch_bounds__(kThreads) stem_mma_kernel(StemArgs args, int tiles_per_row, int tiles) {
  wait_for_predecessor();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row = lane / 4;                                 // [0, 8): pixel of the tile, and row + 8
  const int quad = lane % 4;                                // [0, 4)
  const int group = static_cast<int>(blockIdx.y) * kGroup;  // first output channel
  unsigned weight[3][4][2];
#pragma unroll
  for (int r = 0; r < 3; ++r)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int o = group + row / 2 * 8 + j * 2 + row % 2;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int k = quad * 2 + half * 8;
        weight[r][j][half] = weight_bits<Element>(args, o, r, k) | weight_bits<Element>(args, o, r, k + 1)
                                                                       << 16;
      }
    }
  const int channel = group + quad * 8;
  const bool is_channel = channel < args.output.channels;
  float bias[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) bias[i] = is_channel ? args.bias[channel + i] : 0.0f;

  const int first =
      (static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / 32) * kTilesPerWarp;
  for (int tile = first; tile < min(first + kTilesPerWarp, tiles); ++tile) {
    const int y = tile / tiles_per_row % args.output.height;
    const int n = tile / tiles_per_row / args.output.height;
    const int x = tile % tiles_per_row * kTilePixels + row;
    const Element* const image = static_cast<const Element*>(args.input.data) + n * args.input.image_step();
    const bool is_low = x < args.output.width;
    const bool is_high = x + 8 < args.output.width;
    unsigned pixels[3][4];
#pragma unroll
    for (int r = 0; r < 3; ++r) {
      const int from_y = 2 * y + r - 1;
      const int from_x = 2 * x - 1 + quad / 2;  // pixels 0 and 1 of the window; +2: pixel 2 or none
      const int c = quad % 2 * 2;
      pixels[r][0] = pixel_bits(image, args.input, from_y, from_x, c, is_low);
      pixels[r][1] = pixel_bits(image, args.input, from_y, from_x + 16, c, is_high);
      pixels[r][2] = pixel_bits(image, args.input, from_y, from_x + 2, c, is_low && quad < 2);
      pixels[r][3] = pixel_bits(image, args.input, from_y, from_x + 18, c, is_high && quad < 2);
    }
    float sum[4][4] = {};
#pragma unroll
    for (int r = 0; r < 3; ++r)
#pragma unroll
      for (int j = 0; j < 4; ++j)
        multiply_add(Element{}, sum[j], pixels[r], weight[r][j][0], weight[r][j][1]);

    Element* const target = static_cast<Element*>(args.output.data) + n * args.output.image_step() +
                            (std::int64_t{y} * args.output.width + x) * args.output.pixel_step() + channel;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      Packed<Element> packed;
#pragma unroll
      for (int i = 0; i < 8; ++i)
        packed.element[i] = rounded<Element>(relu(sum[i / 2][half * 2 + i % 2] + bias[i]));
      if (is_channel && (half == 0 ? is_low : is_high))
        store_packed(target + half * 8 * args.output.pixel_step(), packed);
    }
  }
}

// First convolution in fp32, on CUDA cores. tf32 uses it too: tensor cores do not help sums of 27 products.
//
// Shapes   as above. A thread owns 8 channels of one output pixel; weights are in shared memory as
//          (tap, channel), so that 8 channels are two broadcast loads.
// Bytes    6.6 MB read, 13.1 MB written at batch 1, 640x640, 32 channels
// Numerics fp32 fused multiply-add, taps in ascending order
// Checked  tests/kernels/stem_check.cpp: 5e-6 + 1e-6 relative.
__global__ void __launch_bounds__(kThreads) stem_fp32_kernel(StemArgs args, int count) {
  wait_for_predecessor();
  __shared__ __align__(16) float weight[kTaps][kStemMaxChannels];
  const int channels = args.output.channels;
  for (int i = static_cast<int>(threadIdx.x); i < kTaps * channels; i += kThreads)
    weight[i % kTaps][i / kTaps] = static_cast<const float*>(args.weight)[i];
  __syncthreads();
  const int index = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);  // [0, count)
  if (index >= count) return;
  const int groups = channels / 8;
  const int channel = index % groups * 8;
  const int x = index / groups % args.output.width;
  const int y = index / groups / args.output.width % args.output.height;
  const int n = index / groups / args.output.width / args.output.height;
  const float4* const image = reinterpret_cast<const float4*>(static_cast<const float*>(args.input.data) +
                                                              n * args.input.image_step());
  float sum[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) sum[i] = args.bias[channel + i];
#pragma unroll
  for (int tap = 0; tap < 9; ++tap) {
    const int from_y = 2 * y + tap / 3 - 1;
    const int from_x = 2 * x + tap % 3 - 1;
    if (from_y < 0 || from_x < 0) continue;
    const float4 pixel = image[from_y * args.input.width + from_x];
    const float values[3] = {pixel.x, pixel.y, pixel.z};
#pragma unroll
    for (int c = 0; c < 3; ++c)
#pragma unroll
      for (int i = 0; i < 8; ++i) sum[i] = fmaf(weight[tap * 3 + c][channel + i], values[c], sum[i]);
  }
  float* const target = static_cast<float*>(args.output.data) + n * args.output.image_step() +
                        (std::int64_t{y} * args.output.width + x) * args.output.pixel_step() + channel;
  *reinterpret_cast<float4*>(target) = make_float4(relu(sum[0]), relu(sum[1]), relu(sum[2]), relu(sum[3]));
  *reinterpret_cast<float4*>(target + 4) =
      make_float4(relu(sum[4]), relu(sum[5]), relu(sum[6]), relu(sum[7]));
}

cudaError_t launch_fp32(const StemArgs& args, cudaStream_t stream) {
  const std::int64_t count = args.images * args.output.pixels() * (args.output.channels / 8);
  unsigned blocks = 0;
  if (!blocks_for(count, kThreads, blocks)) return cudaErrorInvalidValue;
  if (blocks == 0) return cudaSuccess;
  return launch_dependent(stem_fp32_kernel, blocks, kThreads, 0, stream, args, static_cast<int>(count));
}

template <typename Element>
cudaError_t launch_mma(const StemArgs& args, cudaStream_t stream) {
  const int per_row = (args.output.width + kTilePixels - 1) / kTilePixels;
  const std::int64_t tiles = std::int64_t{args.images} * args.output.height * per_row;
  unsigned blocks = 0;
  if (!blocks_for(tiles, kWarps * kTilesPerWarp, blocks)) return cudaErrorInvalidValue;
  if (blocks == 0) return cudaSuccess;
  const dim3 grid(blocks, static_cast<unsigned>((args.output.channels + kGroup - 1) / kGroup));
  return launch_dependent(stem_mma_kernel<Element>, grid, kThreads, 0, stream, args, per_row,
                          static_cast<int>(tiles));
}

}  // namespace

cudaError_t launch_stem(const StemArgs& args, cudaStream_t stream) {
  if (refusal(args) != nullptr || !is_aligned(args.input.data, 16) || !is_aligned(args.output.data, 16))
    return cudaErrorInvalidValue;
  switch (args.element) {
    case ElementType::fp32:
    case ElementType::tf32:
      return launch_fp32(args, stream);
    case ElementType::fp16:
      return launch_mma<__half>(args, stream);
    case ElementType::bf16:
      return launch_mma<__nv_bfloat16>(args, stream);
  }
  return cudaErrorInvalidValue;
}

}  // namespace rangefinder::kernels
