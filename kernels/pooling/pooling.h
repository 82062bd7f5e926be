// SPDX-License-Identifier: Apache-2.0
//
// The two poolings of the backbone.
//
//   max_pool      out[n,y,x,c] = max over r,q in [0,3) of input[n, 2y + r - 1, 2x + q - 1, c]; outside: -inf
//   average_pool  out[n,y,x,c] = 1/4 sum over r,q in [0,2) of input[n, 2y + r, 2x + q, c]
//
// NaN in a window gives NaN, as in PyTorch. Refuses (cudaErrorInvalidValue): odd height or width (so
// ceil_mode never matters), channels or strides that are not a multiple of elements_per_load().
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/element_type.h"
#include "kernels/nhwc.h"

namespace rangefinder::kernels {

struct PoolArgs {
  ElementType element = ElementType::fp32;
  int images = 0;
  NhwcInput input;
  NhwcOutput output;  ///< half height, half width, the same channels
};

cudaError_t launch_max_pool(const PoolArgs& args, cudaStream_t stream);
cudaError_t launch_average_pool(const PoolArgs& args, cudaStream_t stream);
void max_pool_reference(const PoolArgs& args);      ///< host memory, fp32
void average_pool_reference(const PoolArgs& args);  ///< host memory, fp32, sums in double

}  // namespace rangefinder::kernels
