// SPDX-License-Identifier: Apache-2.0
//
// A linear layer over rows, with bias, residual and activation in its epilogue.
//
//   out[b,m,n] = activation(bias[n] + residual[b,m,n] + sum_k x'[b,m,k] * weight[b,n,k])
//
//   x'[b,m,:] = 0                        where row_valid[m] == 0 (such rows give the bias)
//             = alternate_input[b,m,:]   for columns n >= alternate_from_column
//             = input[b,m,:]             else
//
// The alternate input makes Q, K (of x + position) and V (of x) one launch. `batches` with strides
// covers levels, heads and images; plain layers have one batch. README.md: which kernel runs when.
//
// Shapes   input: (B, M, K); weight: (N, K) or (B, N, K); bias: (N) fp32; residual, output: (B, M, N).
//          M and N are free; K in multiples of elements_per_load() (pad with zeros at load)
// Layout   rows are contiguous and may be further apart than they are long: slices of wider tensors
// Bytes    B*M*K*s (twice with an alternate input) + N*K*s (times B if each batch has its own) + 4*N for
//          the bias + B*M*N*s for the residual + B*M*N*t, s bytes an element, t an output element:
//          min_bytes(). 300 x 1024 x 256 in fp16: 1.3 MB. Tiles request their rows and columns again
// Numerics fp32 sums. fp32: fused multiply-adds in the order of K. tf32: operands rounded to nearest. tf32
//          and 16 bits: products on tensor cores. Splits of K are added in a fixed order. Bias, residual
//          and activation in fp32; one rounding of the output
// Checked  tests/kernels/gemm_check.cpp, every tile against gemm_reference.cpp (sums in double):
//          2e-6 * sqrt(K) + 1e-6, plus 2e-6 relative in fp32 or one rounding of a 16-bit output;
//          tf32 8e-4 * sqrt(K) + 1e-3 relative
//
// Refuses (cudaErrorInvalidValue): K, strides of inputs or weight that are not a multiple of
// elements_per_load(); input, alternate input or weight that is absent where needed or not 16-byte aligned;
// a weight stride less than K; an output or residual stride less than N; several batches with one output;
// an output that is neither of the inputs' type nor fp32; alternate_from_column that is not a multiple of 64;
// row_valid without a period; offsets over 2^31 loads; a tile or splits that do not serve these arguments.
// Zero batches, rows or columns are success. Never allocates or synchronises.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/activation.h"
#include "kernels/element_type.h"
#include "kernels/workspace.h"

namespace rangefinder::kernels {

struct GemmArgs {
  ElementType element = ElementType::fp32;         ///< of inputs, weight and residual
  ElementType output_element = ElementType::fp32;  ///< `element`, or fp32: scores and boxes stay fp32
  int batches = 1;
  int rows = 0;     ///< M
  int columns = 0;  ///< N
  int depth = 0;    ///< K

  const void* input = nullptr;        ///< (batches, M, K)
  std::int64_t input_row_stride = 0;  ///< elements; 0: K
  std::int64_t input_batch_stride = 0;

  const void* alternate_input = nullptr;  ///< strides as `input`; nullptr: none
  int alternate_from_column = 0;          ///< multiple of 64

  const void* weight = nullptr;          ///< (N, K) row-major: the layout of torch.nn.Linear
  std::int64_t weight_row_stride = 0;    ///< elements; 0: K
  std::int64_t weight_batch_stride = 0;  ///< 0: all batches share it
  const float* bias = nullptr;           ///< (N), shared by all batches, or nullptr

  const std::uint8_t* row_valid = nullptr;  ///< (row_valid_period): row m reads entry m % row_valid_period
  int row_valid_period = 0;

  const void* residual = nullptr;        ///< (batches, M, N), added before the activation, or nullptr
  std::int64_t residual_row_stride = 0;  ///< elements; 0: N
  std::int64_t residual_batch_stride = 0;

  void* output = nullptr;              ///< (batches, M, N); may equal `residual`
  std::int64_t output_row_stride = 0;  ///< elements; 0: N
  std::int64_t output_batch_stride = 0;

  Activation activation = Activation::none;
  /// On 9.0 the launch may start before the preceding kernels on the stream have ended. It reads weight and
  /// bias then, and everything else after they have ended. Set it to false if a preceding kernel writes
  /// weight or bias.
  bool may_start_early = true;
  Workspace workspace;
  int tile = -1;     ///< as in ConvolutionArgs
  int splits_k = 0;  ///< as in ConvolutionArgs
};

int gemm_tiles(ElementType element);

std::size_t gemm_workspace_bytes(const GemmArgs& args);

cudaError_t launch_gemm(const GemmArgs& args, cudaStream_t stream);

/// Host memory, fp32 or tf32 (plain fp32 here), sums in double. Throws std::invalid_argument where the
/// launcher refuses.
void gemm_reference(const GemmArgs& args);

}  // namespace rangefinder::kernels
