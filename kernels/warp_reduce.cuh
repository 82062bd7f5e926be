// SPDX-License-Identifier: Apache-2.0
//
// Sums and maxima over the lanes of a warp. Every lane gets the result. The order is fixed, so equal inputs
// give equal bits. Hazard: all 32 lanes must call; a kernel exits by whole warps before.
#pragma once

#include "kernels/packed_elements.cuh"

namespace rangefinder::kernels {

inline constexpr unsigned kWholeWarp = 0xFFFFFFFFu;

template <typename Value>
__device__ __forceinline__ Value warp_sum(Value value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kWholeWarp, value, step);
  return value;
}

/// Skips NaN.
__device__ __forceinline__ float warp_maximum(float value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(kWholeWarp, value, step));
  return value;
}

/// Here and below: over the lanes that are kStep, 2 * kStep, ... apart in a group of kLanes adjacent lanes.
template <int kStep, int kLanes>
__device__ __forceinline__ float group_sum(float value) {
#pragma unroll
  for (int step = kStep; step < kLanes; step *= 2) value += __shfl_xor_sync(kWholeWarp, value, step);
  return value;
}

/// Skips NaN.
template <int kStep, int kLanes>
__device__ __forceinline__ float group_maximum(float value) {
#pragma unroll
  for (int step = kStep; step < kLanes; step *= 2)
    value = fmaxf(value, __shfl_xor_sync(kWholeWarp, value, step));
  return value;
}

/// Propagates NaN.
template <int kStep, int kLanes>
__device__ __forceinline__ float group_nan_or_maximum(float value) {
#pragma unroll
  for (int step = kStep; step < kLanes; step *= 2)
    value = nan_or_maximum(value, __shfl_xor_sync(kWholeWarp, value, step));
  return value;
}

}  // namespace rangefinder::kernels
