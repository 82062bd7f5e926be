// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores of eight adjacent elements as fp32, whole or in part, and the activations.
#pragma once

#include "kernels/activation.h"
#include "kernels/packed_elements.cuh"

namespace rangefinder::kernels {

inline constexpr int kVector = 8;  ///< elements per thread in an epilogue

__device__ __forceinline__ void widen(const float* source, float (&values)[kVector]) {
  const float4 low = *reinterpret_cast<const float4*>(source);
  const float4 high = *reinterpret_cast<const float4*>(source + 4);
  values[0] = low.x, values[1] = low.y, values[2] = low.z, values[3] = low.w;
  values[4] = high.x, values[5] = high.y, values[6] = high.z, values[7] = high.w;
}

__device__ __forceinline__ void widen(const __half* source, float (&values)[kVector]) {
  const uint4 raw = *reinterpret_cast<const uint4*>(source);
  const __half2* const pairs = reinterpret_cast<const __half2*>(&raw);
#pragma unroll
  for (int i = 0; i < kVector / 2; ++i) {
    const float2 pair = __half22float2(pairs[i]);
    values[2 * i] = pair.x, values[2 * i + 1] = pair.y;
  }
}

__device__ __forceinline__ void widen(const __nv_bfloat16* source, float (&values)[kVector]) {
  const uint4 raw = *reinterpret_cast<const uint4*>(source);
  const __nv_bfloat162* const pairs = reinterpret_cast<const __nv_bfloat162*>(&raw);
#pragma unroll
  for (int i = 0; i < kVector / 2; ++i) {
    const float2 pair = __bfloat1622float2(pairs[i]);
    values[2 * i] = pair.x, values[2 * i + 1] = pair.y;
  }
}

__device__ __forceinline__ void narrow(const float (&values)[kVector], float* target) {
  *reinterpret_cast<float4*>(target) = make_float4(values[0], values[1], values[2], values[3]);
  *reinterpret_cast<float4*>(target + 4) = make_float4(values[4], values[5], values[6], values[7]);
}

__device__ __forceinline__ void narrow(const float (&values)[kVector], __half* target) {
  uint4 raw;
  __half2* const pairs = reinterpret_cast<__half2*>(&raw);
#pragma unroll
  for (int i = 0; i < kVector / 2; ++i) pairs[i] = __floats2half2_rn(values[2 * i], values[2 * i + 1]);
  *reinterpret_cast<uint4*>(target) = raw;
}

__device__ __forceinline__ void narrow(const float (&values)[kVector], __nv_bfloat16* target) {
  uint4 raw;
  __nv_bfloat162* const pairs = reinterpret_cast<__nv_bfloat162*>(&raw);
#pragma unroll
  for (int i = 0; i < kVector / 2; ++i) pairs[i] = __floats2bfloat162_rn(values[2 * i], values[2 * i + 1]);
  *reinterpret_cast<uint4*>(target) = raw;
}

/// Loads the first `count` elements; the others stay zero.
template <typename Element>
__device__ __forceinline__ void widen_some(const Element* source, int count, bool is_whole,
                                           float (&values)[kVector]) {
  if (is_whole) {
    widen(source, values);
    return;
  }
#pragma unroll
  for (int i = 0; i < kVector; ++i) values[i] = i < count ? as_float(source[i]) : 0.0f;
}

template <typename Element>
__device__ __forceinline__ void narrow_some(const float (&values)[kVector], int count, bool is_whole,
                                            Element* target) {
  if (is_whole) {
    narrow(values, target);
    return;
  }
#pragma unroll
  for (int i = 0; i < kVector; ++i)
    if (i < count) target[i] = rounded<Element>(values[i]);
}

/// One branch for all eight, so that the exact GELU costs the other activations nothing.
__device__ __forceinline__ void activate(Activation activation, float (&values)[kVector]) {
  if (activation == Activation::relu) {
#pragma unroll
    for (float& value : values) value = value < 0.0f ? 0.0f : value;  // propagates NaN
  } else if (activation == Activation::silu) {
#pragma unroll
    for (float& value : values) value = __fdividef(value, 1.0f + __expf(-value));
  } else if (activation == Activation::gelu_erf) {
#pragma unroll
    for (float& value : values) value = 0.5f * value * (1.0f + erff(value * 0.70710678118654752f));
  }
}

}  // namespace rangefinder::kernels
