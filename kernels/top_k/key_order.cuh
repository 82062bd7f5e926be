// SPDX-License-Identifier: Apache-2.0
//
// The order of top_k.h as unsigned numbers: greater ranks first.
#pragma once

#include "kernels/top_k/top_k_arguments.h"

namespace rangefinder::kernels {

inline constexpr int kRowBits = 16;

/// The unsigned key that selection compares, in the order of the floats. -0 equals +0, NaN ranks last.
__device__ __forceinline__ unsigned ordered(float value) {
  if (value != value) return 0;
  const unsigned bits = __float_as_uint(value + 0.0f);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

__device__ __forceinline__ float unordered(unsigned key) {
  if (key == 0) return __int_as_float(0x7FFFFFFF);
  return __uint_as_float((key & 0x80000000u) != 0 ? key ^ 0x80000000u : ~key);
}

/// Key and row in 48 bits, greater ranks first. All are different, so scheduling cannot change the result.
__device__ __forceinline__ unsigned long long composite(unsigned key, int row) {
  return static_cast<unsigned long long>(key) << kRowBits | static_cast<unsigned>(kMaxRows - 1 - row);
}

}  // namespace rangefinder::kernels
