// SPDX-License-Identifier: Apache-2.0
//
// The formula of gemm.h in plain loops, one output element at a time.
#include <stdexcept>
#include <string>

#include "kernels/gemm/activation_reference.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/gemm_arguments.h"

namespace rangefinder::kernels {
namespace {

/// x'[b,m,:] for column n, or nullptr where the row counts as zero.
const float* input_row(const GemmArgs& args, int batch, int row, int column) {
  if (args.row_valid != nullptr && args.row_valid[row % args.row_valid_period] == 0) return nullptr;
  const bool is_alternate = args.alternate_input != nullptr && column >= args.alternate_from_column;
  return static_cast<const float*>(is_alternate ? args.alternate_input : args.input) +
         batch * args.input_batch_stride + row * stride_or(args.input_row_stride, args.depth);
}

float output_value(const GemmArgs& args, int batch, int row, int column) {
  const float* const weight = static_cast<const float*>(args.weight) + batch * args.weight_batch_stride +
                              column * stride_or(args.weight_row_stride, args.depth);
  double sum = args.bias != nullptr ? static_cast<double>(args.bias[column]) : 0.0;
  if (args.residual != nullptr)
    sum += static_cast<double>(static_cast<const float*>(
        args.residual)[batch * args.residual_batch_stride +
                       row * stride_or(args.residual_row_stride, args.columns) + column]);
  if (const float* input = input_row(args, batch, row, column))
    for (int k = 0; k < args.depth; ++k)
      sum += static_cast<double>(input[k]) * static_cast<double>(weight[k]);
  return static_cast<float>(activated(args.activation, sum));
}

}  // namespace

void gemm_reference(const GemmArgs& args) {
  if (const char* reason = refusal(args)) throw std::invalid_argument(std::string("gemm: ") + reason);
  if (element_bytes(args.element) != sizeof(float))
    throw std::invalid_argument("gemm: the reference supports fp32 and tf32 only");
  for (int batch = 0; batch < args.batches; ++batch) {
    for (int row = 0; row < args.rows; ++row) {
      float* const output = static_cast<float*>(args.output) + batch * args.output_batch_stride +
                            row * stride_or(args.output_row_stride, args.columns);
      for (int column = 0; column < args.columns; ++column)
        output[column] = output_value(args, batch, row, column);
    }
  }
}

}  // namespace rangefinder::kernels
