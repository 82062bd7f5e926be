// SPDX-License-Identifier: Apache-2.0
//
// Argument checks of the stem, shared by launcher and reference.
#pragma once

#include "kernels/stem/stem.h"

namespace rangefinder::kernels {

inline constexpr int kStemInputChannels = 3;
inline constexpr int kStemMaxChannels = 64;

/// Why `args` are refused, or nullptr if they are accepted.
inline const char* refusal(const StemArgs& args) {
  const NhwcInput& input = args.input;
  const NhwcOutput& output = args.output;
  const int multiple = elements_per_load(args.element);
  if (args.images < 0) return "the number of images is negative";
  if (input.data == nullptr || args.weight == nullptr || args.bias == nullptr || output.data == nullptr)
    return "input, weight, bias or output is absent";
  if (input.height <= 0 || input.width <= 0 || input.height % 2 != 0 || input.width % 2 != 0)
    return "height or width is odd or zero";
  if (input.channels != kStemInputChannels || input.pixel_step() != kPixelStride ||
      input.image_step() % kPixelStride != 0)
    return "the input does not have three channels with a pixel stride of four";
  if (output.height != input.height / 2 || output.width != input.width / 2)
    return "the output does not have half the input's size";
  if (output.channels <= 0 || output.channels % 8 != 0 || output.channels > kStemMaxChannels)
    return "the number of output channels is not a multiple of 8 up to 64";
  if (output.pixel_step() < output.channels || output.pixel_step() % multiple != 0 ||
      output.image_step() % multiple != 0)
    return "the output's strides are not a multiple of a load";
  return nullptr;
}

}  // namespace rangefinder::kernels
