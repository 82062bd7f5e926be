// SPDX-License-Identifier: Apache-2.0
//
// A convolution as an implicit GEMM: rows are output pixels, K runs over taps and channels.
#include <limits>

#include "kernels/convolution/convolution.h"
#include "kernels/convolution/convolution_arguments.h"
#include "kernels/gemm/implicit_gemm.h"

namespace rangefinder::kernels {
namespace {

int chunks(std::int64_t elements, ElementType element) {
  return static_cast<int>(elements / elements_per_load(element));
}

void translate_second_input(const ConvolutionArgs& args, ImplicitGemm& gemm) {
  gemm.second_input = args.second_input.data;
  gemm.second_chunks = chunks(args.second_input.channels, args.element);
  gemm.second_image_step = chunks(args.second_input.image_step(), args.element);
  gemm.second_pixel_step = chunks(args.second_input.pixel_step(), args.element);
}

void translate_epilogue(const ConvolutionArgs& args, ImplicitGemm& gemm) {
  const NhwcInput& addend = args.upsampled_addend;
  gemm.bias = args.bias;
  gemm.residual = {args.residual.data, args.residual.image_step(), args.residual.pixel_step()};
  gemm.residual_after_activation = args.residual_place == ResidualPlace::after_activation;
  gemm.addend = {addend.data, addend.image_step(), addend.pixel_step()};
  gemm.addend_width = addend.width;
  gemm.output = args.output.data;
  gemm.output_image_step = args.output.image_step();
  gemm.output_pixel_step = args.output.pixel_step();
  gemm.output_is_fp32 = element_bytes(args.element) == sizeof(float);
  gemm.vectorised = true;  // strides are multiples of a load, views are 16-byte aligned
  gemm.activation = args.activation;
  gemm.may_start_early = args.may_start_early;
}

ImplicitGemm translate(const ConvolutionArgs& args) {
  ImplicitGemm gemm;
  gemm.pixels = static_cast<int>(args.output.pixels());
  gemm.rows = gemm.pixels * args.images;
  gemm.columns = args.output.channels;
  gemm.input = args.input.data;
  gemm.image_step = chunks(args.input.image_step(), args.element);
  gemm.line_step = chunks(args.input.pixel_step() * args.input.width, args.element);
  gemm.pixel_step = chunks(args.input.pixel_step(), args.element);
  gemm.input_height = args.input.height;
  gemm.input_width = args.input.width;
  gemm.output_width = args.output.width;
  gemm.kernel_size = args.kernel_size;
  gemm.stride = args.stride;
  gemm.channel_chunks = chunks(args.input.channels, args.element);
  if (args.second_input.data != nullptr) translate_second_input(args, gemm);
  gemm.weight = args.weight;
  gemm.weight_row_step = gemm.depth_chunks();
  translate_epilogue(args, gemm);
  return gemm;
}

bool are_aligned(const ConvolutionArgs& args) {
  return is_chunk_aligned(args.input.data) && is_chunk_aligned(args.second_input.data) &&
         is_chunk_aligned(args.weight) && is_chunk_aligned(args.residual.data) &&
         is_chunk_aligned(args.upsampled_addend.data) && is_chunk_aligned(args.output.data);
}

/// Offsets in chunks and rows must fit 32 bits.
bool is_small_enough(const ConvolutionArgs& args) {
  constexpr std::int64_t kMax = std::numeric_limits<int>::max();
  const std::int64_t load = elements_per_load(args.element);
  return args.images * args.input.image_step() / load < kMax &&
         args.images * args.second_input.image_step() / load < kMax &&
         args.images * args.output.pixels() < kMax;
}

}  // namespace

int convolution_tiles(ElementType element) {
  return implicit_gemm_tiles(element);
}

std::size_t convolution_workspace_bytes(const ConvolutionArgs& args) {
  ImplicitGemm gemm = translate(args);
  if (args.second_input.channels > 0) translate_second_input(args, gemm);  // its pointer may be set later
  return implicit_gemm_workspace_bytes(args.element, gemm, {args.tile, args.splits_k, {}});
}

cudaError_t launch_convolution(const ConvolutionArgs& args, cudaStream_t stream) {
  if (refusal(args) != nullptr || !are_aligned(args) || !is_small_enough(args)) return cudaErrorInvalidValue;
  return launch_implicit_gemm(args.element, translate(args), {args.tile, args.splits_k, args.workspace},
                              stream);
}

}  // namespace rangefinder::kernels
