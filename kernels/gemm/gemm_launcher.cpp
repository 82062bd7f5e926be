// SPDX-License-Identifier: Apache-2.0
//
// A linear layer as an implicit GEMM: a 1x1 convolution over images of `rows` x 1 pixels.
// Batches that share a weight become images of one product; batches with separate weights become groups.
#include <limits>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/gemm_arguments.h"
#include "kernels/gemm/implicit_gemm.h"

namespace rangefinder::kernels {
namespace {

bool allows_vectors(const void* data, std::size_t bytes, std::int64_t row_stride, std::int64_t batch_stride) {
  const auto multiple = static_cast<std::int64_t>(kChunkBytes / bytes);
  return is_chunk_aligned(data) && row_stride % multiple == 0 && batch_stride % multiple == 0;
}

/// Copies pointers without reading through them.
ImplicitGemm translate(const GemmArgs& args) {
  const int load = elements_per_load(args.element);
  const bool is_grouped = args.batches > 1 && args.weight_batch_stride != 0;
  const std::int64_t input_row = stride_or(args.input_row_stride, args.depth);
  const std::int64_t residual_row = stride_or(args.residual_row_stride, args.columns);
  const std::int64_t output_row = stride_or(args.output_row_stride, args.columns);
  ImplicitGemm gemm;
  gemm.pixels = args.rows;
  gemm.rows = is_grouped ? args.rows : args.rows * args.batches;
  gemm.columns = args.columns;
  gemm.groups = is_grouped ? args.batches : 1;
  gemm.input = args.input;
  gemm.alternate_input = args.alternate_input;
  gemm.alternate_from_column = args.alternate_from_column;
  gemm.image_step = is_grouped ? 0 : static_cast<int>(args.input_batch_stride / load);
  gemm.pixel_step = static_cast<int>(input_row / load);
  gemm.input_width = gemm.output_width = args.rows;
  gemm.channel_chunks = args.depth / load;
  gemm.weight = args.weight;
  gemm.weight_row_step = static_cast<int>(stride_or(args.weight_row_stride, args.depth) / load);
  gemm.row_valid = args.row_valid;
  gemm.row_valid_period = args.row_valid != nullptr ? args.row_valid_period : 1;
  gemm.bias = args.bias;
  gemm.residual = {args.residual, is_grouped ? 0 : args.residual_batch_stride, residual_row};
  gemm.output = args.output;
  gemm.output_image_step = is_grouped ? 0 : args.output_batch_stride;
  gemm.output_pixel_step = output_row;
  if (is_grouped) {
    gemm.input_group_step = args.input_batch_stride / load;
    gemm.weight_group_step = args.weight_batch_stride / load;
    gemm.residual_group_step = args.residual_batch_stride;
    gemm.output_group_step = args.output_batch_stride;
  }
  gemm.output_is_fp32 = element_bytes(args.output_element) == sizeof(float);
  gemm.vectorised =
      allows_vectors(args.output, element_bytes(args.output_element), output_row, args.output_batch_stride) &&
      (args.residual == nullptr ||
       allows_vectors(args.residual, element_bytes(args.element), residual_row, args.residual_batch_stride));
  gemm.activation = args.activation;
  gemm.may_start_early = args.may_start_early;
  return gemm;
}

/// Offsets in chunks must fit 32 bits.
bool is_small_enough(const GemmArgs& args) {
  const std::int64_t load = elements_per_load(args.element);
  const std::int64_t row = stride_or(args.input_row_stride, args.depth);
  const std::int64_t last = (args.batches - 1) * args.input_batch_stride + (args.rows - 1) * row + args.depth;
  constexpr std::int64_t kMax = std::numeric_limits<int>::max();
  return last / load < kMax && std::int64_t{args.rows} * args.batches < kMax &&
         stride_or(args.weight_row_stride, args.depth) / load < kMax;
}

}  // namespace

int gemm_tiles(ElementType element) {
  return implicit_gemm_tiles(element);
}

std::size_t gemm_workspace_bytes(const GemmArgs& args) {
  return implicit_gemm_workspace_bytes(args.element, translate(args), {args.tile, args.splits_k, {}});
}

cudaError_t launch_gemm(const GemmArgs& args, cudaStream_t stream) {
  if (args.batches == 0 || args.rows == 0 || args.columns == 0) return cudaSuccess;
  if (refusal(args) != nullptr || !is_small_enough(args)) return cudaErrorInvalidValue;
  if (!is_chunk_aligned(args.input) || !is_chunk_aligned(args.alternate_input) ||
      !is_chunk_aligned(args.weight))
    return cudaErrorInvalidValue;
  return launch_implicit_gemm(args.element, translate(args), {args.tile, args.splits_k, args.workspace},
                              stream);
}

}  // namespace rangefinder::kernels
