// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of a launch, and the width of its elements in memory.
//
//   fp32   float in memory, fused multiply-add on CUDA cores
//   tf32   float in memory, products on tensor cores with 10 bits of mantissa
//   fp16   half in memory, products on tensor cores
//   bf16   bfloat16 in memory, products on tensor cores
//
// Sums are fp32 in all four. conversion.h converts between them.
#pragma once

#include <cstddef>

namespace rangefinder::kernels {

enum class ElementType { fp32, tf32, fp16, bf16 };

constexpr std::size_t element_bytes(ElementType element) {
  return element == ElementType::fp32 || element == ElementType::tf32 ? 4 : 2;
}

/// Elements of one 16-byte load. Channels and strides of activations are multiples of it.
constexpr int elements_per_load(ElementType element) {
  return static_cast<int>(16 / element_bytes(element));
}

/// For messages and --dtype.
constexpr const char* name_of(ElementType element) {
  switch (element) {
    case ElementType::fp32:
      return "fp32";
    case ElementType::tf32:
      return "tf32";
    case ElementType::fp16:
      return "fp16";
    case ElementType::bf16:
      return "bf16";
  }
  return "?";
}

}  // namespace rangefinder::kernels
