// SPDX-License-Identifier: Apache-2.0
#include "kernels/conversion.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstring>

namespace rangefinder::kernels {

void convert_from_fp32(ElementType element, const float* source, void* target, std::size_t count) {
  switch (element) {
    case ElementType::fp32:
    case ElementType::tf32:
      if (count != 0) std::memcpy(target, source, count * sizeof(float));
      return;
    case ElementType::fp16:
      for (std::size_t i = 0; i < count; ++i) static_cast<__half*>(target)[i] = __float2half_rn(source[i]);
      return;
    case ElementType::bf16:
      for (std::size_t i = 0; i < count; ++i)
        static_cast<__nv_bfloat16*>(target)[i] = __float2bfloat16_rn(source[i]);
      return;
  }
}

void convert_to_fp32(ElementType element, const void* source, float* target, std::size_t count) {
  switch (element) {
    case ElementType::fp32:
    case ElementType::tf32:
      if (count != 0) std::memcpy(target, source, count * sizeof(float));
      return;
    case ElementType::fp16:
      for (std::size_t i = 0; i < count; ++i) target[i] = __half2float(static_cast<const __half*>(source)[i]);
      return;
    case ElementType::bf16:
      for (std::size_t i = 0; i < count; ++i)
        target[i] = __bfloat162float(static_cast<const __nv_bfloat16*>(source)[i]);
      return;
  }
}

float rounded_to(ElementType element, float value) {
  float stored = 0;  // four bytes, enough for every type
  float back = 0;
  convert_from_fp32(element, &value, &stored, 1);
  convert_to_fp32(element, &stored, &back, 1);
  return back;
}

}  // namespace rangefinder::kernels
