// SPDX-License-Identifier: Apache-2.0
#include "kernels/dependent_launch.cuh"
#include "kernels/packed_elements.cuh"
#include "kernels/pooling/pooling.h"
#include "kernels/pooling/pooling_arguments.h"

namespace rangefinder::kernels {
namespace {

constexpr int kThreads = 256;

struct Place {
  int image, y, x, channel;
};

/// Channels vary fastest, so that a warp reads and writes whole lines. `image` is -1 past the row's end. Rows
/// and images come from the grid: divisions would take longer than the loads.
template <typename Element>
__device__ __forceinline__ Place place_of(const NhwcOutput& output) {
  const int packs = output.channels / Packed<Element>::kCount;
  const int index = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (index >= output.width * packs) return {-1, 0, 0, 0};
  return {static_cast<int>(blockIdx.z), static_cast<int>(blockIdx.y), index / packs,
          index % packs * Packed<Element>::kCount};
}

template <typename Element>
__device__ __forceinline__ Packed<Element> load_at(const NhwcInput& view, const Place& place, int y, int x) {
  return load_packed(static_cast<const Element*>(view.data) + place.image * view.image_step() +
                     (std::int64_t{y} * view.width + x) * view.pixel_step() + place.channel);
}

template <typename Element>
__device__ __forceinline__ void store_at(const NhwcOutput& view, const Place& place,
                                         const Packed<Element>& value) {
  store_packed(static_cast<Element*>(view.data) + place.image * view.image_step() +
                   (std::int64_t{place.y} * view.width + place.x) * view.pixel_step() + place.channel,
               value);
}

// Maximum over 3x3 windows, stride 2.
//
//   out[n,y,x,c] = max over r,q in [0,3) of input[n, 2y + r - 1, 2x + q - 1, c]
//
// Shapes   input: (N, 2H, 2W, C), output: (N, H, W, C); channels-last, strides as in nhwc.h
// Tiling   a thread owns 16 bytes of channels of one output pixel; 9 loads in flight. Windows share rows
//          and columns: 2.25 loads per input element, all but one from L1.
// Bytes    16.4 MB at batch 1 in fp16 (320x320x64 to 160x160x64): bound by L2.
// Numerics exact. Needs no -inf: pixels outside the image are replaced by pixels of the window inside it.
// Checked  tests/kernels/pooling_check.cpp, equal bits.
template <typename Element>
__global__ void __launch_bounds__(kThreads) max_pool_kernel(PoolArgs args) {
  wait_for_predecessor();
  const Place place = place_of<Element>(args.output);
  if (place.image < 0) return;
  Packed<Element> window[9];
#pragma unroll
  for (int tap = 0; tap < 9; ++tap) {
    const int y = max(2 * place.y + tap / 3 - 1, 0);  // the input is even: only the upper and left
    const int x = max(2 * place.x + tap % 3 - 1, 0);  // borders are crossed; row 0 repeats row 0
    window[tap] = load_at<Element>(args.input, place, y, x);
  }
#pragma unroll
  for (int tap = 1; tap < 9; ++tap) take_maximum(window[0], window[tap]);
  store_at(args.output, place, window[0]);
}

// Mean over 2x2 windows.
//
//   out[n,y,x,c] = 1/4 sum over r,q in [0,2) of input[n, 2y + r, 2x + q, c]
//
// Shapes   input: (N, 2H, 2W, C), output: (N, H, W, C)
// Tiling   a thread owns 16 bytes of channels of one output pixel
// Bytes    16.4 MB at batch 1 in fp16 before the second stage (160x160x256): bound by L2.
// Numerics fp32 sum of four, one rounding.
// Checked  tests/kernels/pooling_check.cpp, one rounding of the type.
template <typename Element>
__global__ void __launch_bounds__(kThreads) average_pool_kernel(PoolArgs args) {
  wait_for_predecessor();
  const Place place = place_of<Element>(args.output);
  if (place.image < 0) return;
  Packed<Element> window[4];
#pragma unroll
  for (int tap = 0; tap < 4; ++tap)
    window[tap] = load_at<Element>(args.input, place, 2 * place.y + tap / 2, 2 * place.x + tap % 2);
  Packed<Element> mean;
#pragma unroll
  for (int i = 0; i < Packed<Element>::kCount; ++i)
    mean.element[i] = rounded<Element>(((as_float(window[0].element[i]) + as_float(window[1].element[i])) +
                                        (as_float(window[2].element[i]) + as_float(window[3].element[i]))) *
                                       0.25f);
  store_at(args.output, place, mean);
}

bool is_refused(const PoolArgs& args) {
  return refusal(args) != nullptr || !is_aligned(args.input.data, 16) || !is_aligned(args.output.data, 16);
}

/// Returns false if there are more rows or images than a grid allows.
bool grid_of(const PoolArgs& args, dim3& grid) {
  constexpr int kMax = 65535;
  const std::int64_t packs =
      std::int64_t{args.output.width} * (args.output.channels / elements_per_load(args.element));
  if (!blocks_for(packs, kThreads, grid.x) || args.output.height > kMax || args.images > kMax) return false;
  grid.y = static_cast<unsigned>(args.output.height);
  grid.z = static_cast<unsigned>(args.images);
  return true;
}

}  // namespace

cudaError_t launch_max_pool(const PoolArgs& args, cudaStream_t stream) {
  dim3 grid;
  if (is_refused(args) || !grid_of(args, grid)) return cudaErrorInvalidValue;
  if (args.images == 0) return cudaSuccess;
  return with_stored_type(args.element, [&](auto stored) {
    return launch_dependent(max_pool_kernel<typename decltype(stored)::Type>, grid, kThreads, 0, stream,
                            args);
  });
}

cudaError_t launch_average_pool(const PoolArgs& args, cudaStream_t stream) {
  dim3 grid;
  if (is_refused(args) || !grid_of(args, grid)) return cudaErrorInvalidValue;
  if (args.images == 0) return cudaSuccess;
  return with_stored_type(args.element, [&](auto stored) {
    return launch_dependent(average_pool_kernel<typename decltype(stored)::Type>, grid, kThreads, 0, stream,
                            args);
  });
}

}  // namespace rangefinder::kernels
