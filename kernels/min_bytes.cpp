// SPDX-License-Identifier: Apache-2.0
#include "kernels/min_bytes.h"

#include <algorithm>

namespace rangefinder::kernels {
namespace {

/// Product of counts; all of them are at least 0.
template <typename... Counts>
std::uint64_t product(Counts... counts) {
  return (std::uint64_t{1} * ... * static_cast<std::uint64_t>(counts));
}

template <typename View>
std::uint64_t view_bytes(ElementType element, int images, const View& view) {
  if (view.data == nullptr) return 0;
  return product(images, view.pixels(), view.channels, element_bytes(element));
}

std::uint64_t bytes_if(const void* data, std::uint64_t bytes) {
  return data != nullptr ? bytes : 0;
}

}  // namespace

std::uint64_t min_bytes(const ConvolutionArgs& args) {
  const std::uint64_t depth =
      product(args.kernel_size, args.kernel_size, args.input.channels) +
      (args.second_input.data != nullptr ? static_cast<std::uint64_t>(args.second_input.channels) : 0);
  // A 1x1 convolution with stride 2 needs one pixel in four of its input.
  const std::uint64_t read_share = args.kernel_size < args.stride ? product(args.stride, args.stride) : 1;
  return view_bytes(args.element, args.images, args.input) / read_share +
         view_bytes(args.element, args.images, args.second_input) +
         view_bytes(args.element, args.images, args.residual) +
         view_bytes(args.element, args.images, args.upsampled_addend) +
         view_bytes(args.element, args.images, args.output) +
         product(args.output.channels, depth, element_bytes(args.element)) +
         bytes_if(args.bias, product(args.output.channels, sizeof(float)));
}

std::uint64_t min_bytes(const GemmArgs& args) {
  const std::uint64_t element = element_bytes(args.element);
  const std::uint64_t input = product(args.batches, args.rows, args.depth, element);
  const std::uint64_t weights =
      product(args.weight_batch_stride != 0 ? args.batches : 1, args.columns, args.depth);
  return input + bytes_if(args.alternate_input, input) + weights * element +
         bytes_if(args.bias, product(args.columns, sizeof(float))) +
         bytes_if(args.row_valid, product(args.row_valid_period)) +
         bytes_if(args.residual, product(args.batches, args.rows, args.columns, element)) +
         product(args.batches, args.rows, args.columns, element_bytes(args.output_element));
}

std::uint64_t min_bytes(const StemArgs& args) {
  const std::uint64_t weights = product(args.output.channels, 27, element_bytes(args.element));
  return view_bytes(args.element, args.images, args.input) + weights +
         product(args.output.channels, sizeof(float)) + view_bytes(args.element, args.images, args.output);
}

std::uint64_t min_bytes(const PoolArgs& args) {
  return view_bytes(args.element, args.images, args.input) +
         view_bytes(args.element, args.images, args.output);
}

std::uint64_t min_bytes(const LayerNormArgs& args) {
  const std::uint64_t row = product(args.channels, element_bytes(args.element));
  const std::uint64_t rows = product(args.rows) * row;
  return rows + bytes_if(args.residual, rows) + rows + product(2, args.channels, sizeof(float)) +
         bytes_if(args.position, product(args.position_rows) * row) +
         bytes_if(args.output_with_position, rows);
}

std::uint64_t min_bytes(const AttentionArgs& args) {
  const std::uint64_t row = product(args.heads, args.head_channels, element_bytes(args.element));
  return product(args.images, 2 * args.queries + 2 * args.keys) * row;
}

std::uint64_t min_bytes(const DeformableAttentionArgs& args) {
  const std::uint64_t element = element_bytes(args.element);
  const std::uint64_t channels = product(args.heads, args.head_channels);
  std::uint64_t positions = 0;
  for (int i = 0; i < args.levels; ++i) {
    const FeatureLevel& level = args.level[static_cast<std::size_t>(i)];
    positions += product(level.height, level.width);
  }
  const std::uint64_t projected = product(args.heads, args.levels, args.points, 3);
  return product(args.images) *
         (positions * channels * element +
          product(args.queries) * ((projected + channels) * element + 4 * sizeof(float)));
}

std::uint64_t min_bytes(const TopKArgs& args) {
  return product(args.images, args.rows, args.columns, sizeof(float)) +
         product(args.images, args.k, sizeof(std::int32_t)) +
         bytes_if(args.keys, product(args.images, args.k, sizeof(float)));
}

std::uint64_t min_bytes(const GatherArgs& args) {
  return product(args.images, args.gathered_rows) * (product(2, args.row_bytes) + sizeof(std::int32_t));
}

std::uint64_t min_bytes(const BoxRefinementArgs& args) {
  const std::uint64_t box = 4 * sizeof(float);
  const std::uint64_t index = args.indices != nullptr ? sizeof(std::int32_t) : 0;
  const std::uint64_t query_input = product(kQueryInputColumns, element_bytes(args.element));
  return product(args.images, args.queries) * (3 * box + index + bytes_if(args.query_input, query_input));
}

std::uint64_t min_bytes(const PreprocessArgs& args) {
  return product(args.source_height, args.source_width, 3) +
         product(args.target_height, args.target_width, kPixelStride, element_bytes(args.element));
}

std::uint64_t min_bytes(const PostprocessArgs& args) {
  // One logit and box per detection; several detections may share a query's box.
  const int boxes_read = std::min(args.detections, args.queries);
  return product(args.images) *
         (product(args.detections, sizeof(std::int32_t) + sizeof(float) + sizeof(Detection)) +
          product(boxes_read, 4, sizeof(float)) + sizeof(ImageSize));
}

}  // namespace rangefinder::kernels
