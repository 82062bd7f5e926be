// SPDX-License-Identifier: Apache-2.0
//
// Between fp32 and the types that lie in memory, on the host: weights when they are loaded, dumps and
// expected values of tests. Rounds to nearest, ties to even. No CUDA call; works without a GPU.
#pragma once

#include <cstddef>

#include "kernels/element_type.h"

namespace rangefinder::kernels {

/// `count` floats into `target`, element_bytes() each. fp16 overflows to infinity. tf32 is copied: the
/// tensor core takes the upper bits itself.
void convert_from_fp32(ElementType element, const float* source, void* target, std::size_t count);

/// Exact for every type.
void convert_to_fp32(ElementType element, const void* source, float* target, std::size_t count);

/// `value` as it comes back from memory of this type.
float rounded_to(ElementType element, float value);

}  // namespace rangefinder::kernels
