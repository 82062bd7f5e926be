// SPDX-License-Identifier: Apache-2.0
//
// Conversion between fp32 and the element types in memory, on the host: for weights at load, dumps and
// expected values of tests. Rounds to nearest, ties to even. No CUDA call; works without a GPU.
#pragma once

#include <cstddef>

#include "kernels/element_type.h"

namespace rangefinder::kernels {

/// Converts `count` floats into `target`, element_bytes() each. fp16 overflows to infinity. tf32 is copied:
/// the tensor core takes the upper bits itself.
void convert_from_fp32(ElementType element, const float* source, void* target, std::size_t count);

/// Exact for every type.
void convert_to_fp32(ElementType element, const void* source, float* target, std::size_t count);

/// `value` after a round trip through this type.
float rounded_to(ElementType element, float value);

}  // namespace rangefinder::kernels
