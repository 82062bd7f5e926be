// SPDX-License-Identifier: Apache-2.0
#include "kernels/dependent_launch.cuh"
#include "kernels/packed_elements.cuh"
#include "kernels/preprocess/preprocess.h"
#include "kernels/preprocess/preprocess_arguments.h"
#include "kernels/stem/stem.h"

namespace rangefinder::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kColours = 3;

struct Colour {
  unsigned channel[kColours];  ///< bytes
};

/// round(sum / total), halves up.
__device__ __forceinline__ unsigned quotient(std::uint64_t sum, std::uint64_t total) {
  const std::uint64_t above = 2 * sum + total;
  if (above >> 32 == 0)  // true for photographs of ordinary size, uniform over an image
    return static_cast<unsigned>(above) / static_cast<unsigned>(2 * total);
  return static_cast<unsigned>(above / (2 * total));
}

/// Target pixel i. `line`: the first source pixel; `step`: bytes between source pixels.
__device__ __forceinline__ Colour filtered(const std::uint8_t* line, std::int64_t step,
                                           const Triangle& triangle, int i) {
  std::uint64_t sum[kColours] = {};
  std::uint64_t total = 0;
  const int end = triangle.end(i);
#pragma unroll 4
  for (int j = triangle.first(i); j < end; ++j) {
    const unsigned weight = static_cast<unsigned>(triangle.weight(i, j));
    total += weight;
#pragma unroll
    for (int c = 0; c < kColours; ++c) sum[c] += std::uint64_t{weight} * line[j * step + c];
  }
  Colour colour;
#pragma unroll
  for (int c = 0; c < kColours; ++c) colour.channel[c] = quotient(sum[c], total);
  return colour;
}

// Horizontal pass of the antialiased resize, bytes to bytes.
//
//   narrow[y,x,c] = round(sum_j weight_x(j) * image[y,j,c])
//
// Shapes   image: (source height, source width, 3); narrow: (source height, target width, 3)
// Tiling   one thread per output pixel, which reads 2 * max(1, scale) pixels of one source row
// Bytes    the source once from DRAM (2.8 MB for 1280x720); adjacent threads overlap in L1
// Numerics integers: weights times 2 * target width, halves round up, so it is exact
// Checked  tests/kernels/preprocess_check.cpp: equal bytes.
__global__ void __launch_bounds__(kThreads) resize_horizontal_kernel(PreprocessArgs args, int count) {
  wait_for_predecessor();
  const int at = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);  // [0, count)
  if (at >= count) return;
  const int y = at / args.target_width;
  const Colour colour = filtered(args.image + std::int64_t{y} * args.source_width * kColours, kColours,
                                 Triangle{args.source_width, args.target_width}, at % args.target_width);
  std::uint8_t* const target = args.workspace + std::int64_t{at} * kColours;
#pragma unroll
  for (int c = 0; c < kColours; ++c) target[c] = static_cast<std::uint8_t>(colour.channel[c]);
}

// Vertical pass, bytes to the element type.
//
//   out[y,x,c] = round(sum_j weight_y(j) * narrow[j,x,c]) / 255      out[y,x,3] = 0
//
// Shapes   narrow: (source height, target width, 3); out: (target height, target width, 4)
// Tiling   one thread per pixel; threads adjacent in x read the same lines
// Bytes    3.3 MB written at 640x640 in 16-bit types
// Checked  as above
template <typename Element>
__global__ void __launch_bounds__(kThreads) resize_vertical_kernel(PreprocessArgs args, int count) {
  wait_for_predecessor();
  const int at = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);  // [0, count)
  if (at >= count) return;
  const Colour colour = filtered(args.workspace + std::int64_t{at % args.target_width} * kColours,
                                 std::int64_t{args.target_width} * kColours,
                                 Triangle{args.source_height, args.target_height}, at / args.target_width);
  struct alignas(kPixelStride * sizeof(Element)) Pixel {
    Element channel[kPixelStride];
  } pixel;
#pragma unroll
  for (int c = 0; c < kColours; ++c)
    pixel.channel[c] = rounded<Element>(static_cast<float>(colour.channel[c]) / 255.0f);
  pixel.channel[kColours] = rounded<Element>(0.0f);
  static_cast<Pixel*>(args.output)[at] = pixel;
}

}  // namespace

std::size_t preprocess_workspace_bytes(const PreprocessArgs& args) {
  return static_cast<std::size_t>(args.source_height) * static_cast<std::size_t>(args.target_width) *
         kColours;
}

cudaError_t launch_preprocess(const PreprocessArgs& args, cudaStream_t stream) {
  unsigned horizontal = 0;
  unsigned vertical = 0;
  const std::int64_t narrow = std::int64_t{args.source_height} * args.target_width;
  const std::int64_t target = std::int64_t{args.target_height} * args.target_width;
  if (refusal(args) != nullptr || args.workspace == nullptr || !is_aligned(args.output, 16) ||
      !blocks_for(narrow, kThreads, horizontal) || !blocks_for(target, kThreads, vertical))
    return cudaErrorInvalidValue;
  const cudaError_t status = launch_dependent(resize_horizontal_kernel, horizontal, kThreads, 0, stream, args,
                                              static_cast<int>(narrow));
  if (status != cudaSuccess) return status;
  return with_stored_type(args.element, [&](auto stored) {
    return launch_dependent(resize_vertical_kernel<typename decltype(stored)::Type>, vertical, kThreads, 0,
                            stream, args, static_cast<int>(target));
  });
}

}  // namespace rangefinder::kernels
