// SPDX-License-Identifier: Apache-2.0
#include "kernels/dependent_launch.cuh"
#include "kernels/packed_elements.cuh"
#include "kernels/upsample_concat/upsample_concat.h"
#include "kernels/upsample_concat/upsample_concat_arguments.h"

namespace rangefinder::kernels {
namespace {

constexpr int kThreads = 256;

// Nearest upsampling by two, then concatenation.
//
//   out[n,y,x,c] = coarse[n, y/2, x/2, c]   for c in [0, A)
//                = fine[n, y, x, c - A]     for c in [A, A + B)
//
// Shapes   coarse: (N, H/2, W/2, A), fine: (N, H, W, B), output: (N, H, W, A + B)
// Tiling   a thread copies 16 bytes of channels of one output pixel
// Bytes    13.1 MB requested at batch 1 in fp16 (80x80, 256 + 256): two thirds of it are written.
// Numerics a copy of bits.
// Checked  tests/kernels/upsample_concat_check.cpp, equal bits.
template <typename Element>
__global__ void __launch_bounds__(kThreads) upsample_concat_kernel(UpsampleConcatArgs args, int count) {
  wait_for_predecessor();
  const int index = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);  // [0, count)
  if (index >= count) return;
  const int packs = args.output.channels / Packed<Element>::kCount;
  const int pixels = args.output.height * args.output.width;
  const int in_image = index / packs % pixels;
  const int image = index / packs / pixels;
  const int y = in_image / args.output.width;
  const int x = in_image % args.output.width;
  const int channel = index % packs * Packed<Element>::kCount;  // [0, A + B)

  const bool is_coarse = channel < args.coarse.channels;
  const std::int64_t from_coarse = image * args.coarse.image_step() +
                                   (y / 2 * args.coarse.width + x / 2) * args.coarse.pixel_step() + channel;
  const std::int64_t from_fine =
      image * args.fine.image_step() + in_image * args.fine.pixel_step() + channel - args.coarse.channels;
  const Element* const source = is_coarse ? static_cast<const Element*>(args.coarse.data) + from_coarse
                                          : static_cast<const Element*>(args.fine.data) + from_fine;
  store_packed(static_cast<Element*>(args.output.data) + image * args.output.image_step() +
                   in_image * args.output.pixel_step() + channel,
               load_packed(source));
}

}  // namespace

cudaError_t launch_upsample_concat(const UpsampleConcatArgs& args, cudaStream_t stream) {
  if (refusal(args) != nullptr || !is_aligned(args.coarse.data, 16) || !is_aligned(args.fine.data, 16) ||
      !is_aligned(args.output.data, 16))
    return cudaErrorInvalidValue;
  const std::int64_t count =
      args.images * args.output.pixels() * (args.output.channels / elements_per_load(args.element));
  unsigned blocks = 0;
  if (!blocks_for(count, kThreads, blocks)) return cudaErrorInvalidValue;
  if (blocks == 0) return cudaSuccess;
  return with_stored_type(args.element, [&](auto stored) {
    return launch_dependent(upsample_concat_kernel<typename decltype(stored)::Type>, blocks, kThreads, 0,
                            stream, args, static_cast<int>(count));
  });
}

}  // namespace rangefinder::kernels
