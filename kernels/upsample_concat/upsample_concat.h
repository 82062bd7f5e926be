// SPDX-License-Identifier: Apache-2.0
//
// Nearest upsampling by two, then concatenation: the input of an FPN block as PyTorch makes it.
//
//   out[n,y,x,c] = coarse[n, y/2, x/2, c]   for c in [0, A)
//                = fine[n, y, x, c - A]     for c in [A, A + B)
//
// The network does not use it: its convolution takes two inputs and an upsampled addend. This is the plain
// variant to compare with. Refuses (cudaErrorInvalidValue): sizes that do not match, channels or strides
// that are not a multiple of elements_per_load().
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/element_type.h"
#include "kernels/nhwc.h"

namespace rangefinder::kernels {

struct UpsampleConcatArgs {
  ElementType element = ElementType::fp32;
  int images = 0;
  NhwcInput coarse;   ///< A channels, half the output's height and width
  NhwcInput fine;     ///< B channels, the output's height and width
  NhwcOutput output;  ///< A + B channels
};

cudaError_t launch_upsample_concat(const UpsampleConcatArgs& args, cudaStream_t stream);
void upsample_concat_reference(const UpsampleConcatArgs& args);  ///< host memory, fp32

}  // namespace rangefinder::kernels
