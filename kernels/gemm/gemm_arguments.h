// SPDX-License-Identifier: Apache-2.0
//
// Argument checks of a linear layer and the defaults of its strides, shared by launcher and reference.
#pragma once

#include "kernels/gemm/gemm.h"

namespace rangefinder::kernels {

constexpr std::int64_t stride_or(std::int64_t stride, std::int64_t otherwise) {
  return stride != 0 ? stride : otherwise;
}

inline constexpr int kAlternateColumns = 64;  ///< an alternate input starts at a multiple of this

/// Why `args` are refused, or nullptr if they are accepted.
inline const char* refusal(const GemmArgs& args) {
  const int multiple = elements_per_load(args.element);
  if (args.batches < 0 || args.rows < 0 || args.columns < 0 || args.depth <= 0) return "a size is negative";
  if (args.output_element != args.element && args.output_element != ElementType::fp32)
    return "the output is neither of the inputs' type nor fp32";
  if (args.input == nullptr || args.weight == nullptr || args.output == nullptr)
    return "input, weight or output is absent";
  if (args.depth % multiple != 0 || args.input_row_stride % multiple != 0 ||
      args.input_batch_stride % multiple != 0 || args.weight_row_stride % multiple != 0 ||
      args.weight_batch_stride % multiple != 0)
    return "K or a stride of inputs or weight is not a multiple of a load";
  if (stride_or(args.input_row_stride, args.depth) < 0 ||
      stride_or(args.weight_row_stride, args.depth) < args.depth)
    return "a row of the weight is shorter than K";
  if (stride_or(args.output_row_stride, args.columns) < args.columns ||
      (args.residual != nullptr && stride_or(args.residual_row_stride, args.columns) < args.columns))
    return "a row of output or residual is shorter than N";
  if (args.batches > 1 && args.output_batch_stride == 0) return "all batches write the same output";
  if (args.alternate_input != nullptr && args.alternate_from_column % kAlternateColumns != 0)
    return "the alternate input does not start at a multiple of 64 columns";
  if (args.row_valid != nullptr && args.row_valid_period <= 0) return "row_valid has no period";
  return nullptr;
}

}  // namespace rangefinder::kernels
