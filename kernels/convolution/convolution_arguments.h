// SPDX-License-Identifier: Apache-2.0
//
// Argument checks of convolution, shared by launcher and reference.
#pragma once

#include "kernels/convolution/convolution.h"

namespace rangefinder::kernels {

constexpr int convolved_extent(int extent, int kernel_size, int stride) {
  return (extent + 2 * (kernel_size / 2) - kernel_size) / stride + 1;
}

template <typename View>
constexpr bool is_in_whole_loads(const View& view, int multiple) {
  return view.height > 0 && view.width > 0 && view.channels > 0 && view.channels % multiple == 0 &&
         view.pixel_step() % multiple == 0 && view.image_step() % multiple == 0 &&
         view.pixel_step() >= view.channels;
}

/// Whether `view` is absent or has this size.
constexpr bool is_absent_or(const NhwcInput& view, int height, int width, int multiple) {
  return view.data == nullptr ||
         (is_in_whole_loads(view, multiple) && view.height == height && view.width == width);
}

/// Why `args` are refused, or nullptr if they are accepted.
inline const char* refusal(const ConvolutionArgs& args) {
  const int multiple = elements_per_load(args.element);
  const NhwcOutput& output = args.output;
  const int channels = output.channels;
  if (args.kernel_size != 1 && args.kernel_size != 3) return "the kernel size is neither 1 nor 3";
  if (args.stride != 1 && args.stride != 2) return "the stride is neither 1 nor 2";
  if (args.images < 0) return "the number of images is negative";
  if (args.input.data == nullptr || args.weight == nullptr || output.data == nullptr)
    return "input, weight or output is absent";
  if (!is_in_whole_loads(args.input, multiple) || !is_in_whole_loads(output, multiple))
    return "channels or strides of input or output are not a multiple of a load";
  if (output.height != convolved_extent(args.input.height, args.kernel_size, args.stride) ||
      output.width != convolved_extent(args.input.width, args.kernel_size, args.stride))
    return "the output size does not match the input";
  if (!is_absent_or(args.second_input, output.height, output.width, multiple))
    return "the size of the second input does not match";
  if (!is_absent_or(args.residual, output.height, output.width, multiple) ||
      (args.residual.data != nullptr && args.residual.channels != channels))
    return "the size of the residual does not match";
  const NhwcInput& addend = args.upsampled_addend;
  if (addend.data != nullptr && (output.height % 2 != 0 || output.width % 2 != 0))
    return "an upsampled addend needs an even output size";
  if (!is_absent_or(addend, output.height / 2, output.width / 2, multiple) ||
      (addend.data != nullptr && addend.channels != channels))
    return "the size of the upsampled addend does not match";
  return nullptr;
}

}  // namespace rangefinder::kernels
