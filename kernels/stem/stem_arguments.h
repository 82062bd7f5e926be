// SPDX-License-Identifier: Apache-2.0
//
// Which arguments of the stem are refused, and why: one list for launcher and reference.
#pragma once

#include "kernels/stem/stem.h"

namespace rangefinder::kernels {

inline constexpr int kStemInputChannels = 3;
inline constexpr int kStemMaxChannels = 64;

/// nullptr: accepted. Else what is wrong.
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
    return "the input has not three channels, four elements apart";
  if (output.height != input.height / 2 || output.width != input.width / 2)
    return "the output has not half the size";
  if (output.channels <= 0 || output.channels % 8 != 0 || output.channels > kStemMaxChannels)
    return "the output channels are no multiple of 8 up to 64";
  if (output.pixel_step() < output.channels || output.pixel_step() % multiple != 0 ||
      output.image_step() % multiple != 0)
    return "the output's strides are no multiple of a load";
  return nullptr;
}

}  // namespace rangefinder::kernels
