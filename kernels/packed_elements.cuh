// SPDX-License-Identifier: Apache-2.0
//
// Sixteen bytes of a type as the unit of loads and stores, and dispatch by the type in memory.
//
// For the ops that are bound by memory. fp32 and tf32 are both float here: these ops do not use tensor cores.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/element_type.h"

namespace rangefinder::kernels {

template <typename Element>
struct alignas(16) Packed {
  static constexpr int kCount = 16 / sizeof(Element);
  Element element[kCount];
};

__device__ __forceinline__ float as_float(float value) {
  return value;
}
__device__ __forceinline__ float as_float(__half value) {
  return __half2float(value);
}
__device__ __forceinline__ float as_float(__nv_bfloat16 value) {
  return __bfloat162float(value);
}

template <typename Element>
__device__ __forceinline__ Element rounded(float value);
template <>
__device__ __forceinline__ float rounded<float>(float value) {
  return value;
}
template <>
__device__ __forceinline__ __half rounded<__half>(float value) {
  return __float2half_rn(value);
}
template <>
__device__ __forceinline__ __nv_bfloat16 rounded<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}

/// `source` is 16-byte aligned.
template <typename Element>
__device__ __forceinline__ Packed<Element> load_packed(const Element* source) {
  Packed<Element> packed;
  *reinterpret_cast<uint4*>(&packed) = *reinterpret_cast<const uint4*>(source);
  return packed;
}

template <typename Element>
__device__ __forceinline__ void store_packed(Element* target, const Packed<Element>& packed) {
  *reinterpret_cast<uint4*>(target) = *reinterpret_cast<const uint4*>(&packed);
}

/// The maximum, or NaN if either is NaN.
__device__ __forceinline__ float nan_or_maximum(float a, float b) {
  return a > b || a != a ? a : b;
}

/// Elementwise a = max(a, b); propagates NaN.
__device__ __forceinline__ void take_maximum(Packed<float>& a, const Packed<float>& b) {
#pragma unroll
  for (int i = 0; i < 4; ++i) a.element[i] = nan_or_maximum(a.element[i], b.element[i]);
}
__device__ __forceinline__ void take_maximum(Packed<__half>& a, const Packed<__half>& b) {
  __half2* const own = reinterpret_cast<__half2*>(&a);
  const __half2* const other = reinterpret_cast<const __half2*>(&b);
#pragma unroll
  for (int i = 0; i < 4; ++i) own[i] = __hmax2_nan(own[i], other[i]);
}
__device__ __forceinline__ void take_maximum(Packed<__nv_bfloat16>& a, const Packed<__nv_bfloat16>& b) {
  __nv_bfloat162* const own = reinterpret_cast<__nv_bfloat162*>(&a);
  const __nv_bfloat162* const other = reinterpret_cast<const __nv_bfloat162*>(&b);
#pragma unroll
  for (int i = 0; i < 4; ++i) own[i] = __hmax2_nan(own[i], other[i]);
}

template <typename Element>
struct StoredAs {
  using Type = Element;
};

/// Calls `launch` with StoredAs<T>, where T is the type of `element` in memory.
template <typename Launch>
cudaError_t with_stored_type(ElementType element, const Launch& launch) {
  switch (element) {
    case ElementType::fp32:
    case ElementType::tf32:
      return launch(StoredAs<float>{});
    case ElementType::fp16:
      return launch(StoredAs<__half>{});
    case ElementType::bf16:
      return launch(StoredAs<__nv_bfloat16>{});
  }
  return cudaErrorInvalidValue;
}

/// nullptr counts as aligned: absent operands pass.
inline bool is_aligned(const void* pointer, std::uintptr_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

/// Blocks of `threads` for `work` threads. Returns false if a thread's index would not fit an int: 64-bit
/// divisions would dominate these kernels.
inline bool blocks_for(std::int64_t work, int threads, unsigned& blocks) {
  blocks = static_cast<unsigned>((work + threads - 1) / threads);
  return work >= 0 && work <= 0x7FFFFFFF - threads;
}

}  // namespace rangefinder::kernels
