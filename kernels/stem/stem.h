// SPDX-License-Identifier: Apache-2.0
//
// The first convolution: 3x3, stride 2, from pixels of three channels, with bias and ReLU.
//
//   out[n,y,x,o] = max(0, bias[o] + sum_{r,q,c<3} weight[o,r,q,c] * input[n, 2y + r - 1, 2x + q - 1, c])
//
// Three channels do not fill a tensor-core tile, hence a separate kernel. Pixels are 4 elements apart
// (kPixelStride, the fourth is not used), so that a pixel is one load. Sums are fp32 for all types.
//
// Refuses (cudaErrorInvalidValue): odd height or width, input channels other than 3, a pixel stride
// other than 4, output channels that are not a multiple of 8 or more than 64.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/element_type.h"
#include "kernels/nhwc.h"

namespace rangefinder::kernels {

inline constexpr int kPixelStride = 4;

struct StemArgs {
  ElementType element = ElementType::fp32;  ///< of input, weight and output
  int images = 0;
  NhwcInput input;               ///< 3 channels, pixel stride 4
  const void* weight = nullptr;  ///< (output channels, 3, 3, 3) as o, row, column, channel
  const float* bias = nullptr;   ///< (output channels)
  NhwcOutput output;             ///< half height, half width
};

cudaError_t launch_stem(const StemArgs& args, cudaStream_t stream);
void stem_reference(const StemArgs& args);  ///< host memory, fp32, sums in double

}  // namespace rangefinder::kernels
