// SPDX-License-Identifier: Apache-2.0
//
// Layer normalisation over rows, with the residual before and the position embedding after it.
//
//   v[r,c]   = input[r,c] + residual[r,c]
//   out[r,c] = gamma[c] * (v[r,c] - mean_c v[r]) / sqrt(var_c v[r] + epsilon) + beta[c]     var with 1/C
//   out_with_position[r,c] = out[r,c] + position[r % position_rows, c]
//
// The next attention takes the second output for queries and keys. `position` is added to the fp32 value,
// before `out` is rounded. Statistics in fp32, in two passes over registers.
//
// Refuses (cudaErrorInvalidValue): C that is not a multiple of 32 or more than 1024; one of position and
// output_with_position without the other; pointers that are not 16-byte aligned. Rows are packed.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/element_type.h"

namespace rangefinder::kernels {

struct LayerNormArgs {
  ElementType element = ElementType::fp32;  ///< of all operands but gamma and beta
  int rows = 0;
  int channels = 0;                ///< C
  const void* input = nullptr;     ///< (rows, C)
  const void* residual = nullptr;  ///< (rows, C), or nullptr
  const float* gamma = nullptr;    ///< (C)
  const float* beta = nullptr;     ///< (C)
  float epsilon = 1e-5F;
  void* output = nullptr;                ///< (rows, C); may equal input or residual
  const void* position = nullptr;        ///< (position_rows, C), or nullptr
  int position_rows = 0;                 ///< rows of one period; `rows` for one embedding per row
  void* output_with_position = nullptr;  ///< (rows, C), or nullptr
};

cudaError_t launch_layer_norm(const LayerNormArgs& args, cudaStream_t stream);
void layer_norm_reference(const LayerNormArgs& args);  ///< host memory, fp32, statistics in double

}  // namespace rangefinder::kernels
