// SPDX-License-Identifier: Apache-2.0
//
// Argument checks of upsample_concat, shared by launcher and reference.
#pragma once

#include "kernels/upsample_concat/upsample_concat.h"

namespace rangefinder::kernels {

template <typename View>
constexpr bool is_concatenable(const View& view, int multiple) {
  return view.data != nullptr && view.height > 0 && view.width > 0 && view.channels > 0 &&
         view.channels % multiple == 0 && view.pixel_step() % multiple == 0 &&
         view.image_step() % multiple == 0 && view.pixel_step() >= view.channels;
}

/// Why `args` are refused, or nullptr if they are accepted.
inline const char* refusal(const UpsampleConcatArgs& args) {
  const int multiple = elements_per_load(args.element);
  const NhwcOutput& output = args.output;
  if (args.images < 0) return "the number of images is negative";
  if (!is_concatenable(args.coarse, multiple) || !is_concatenable(args.fine, multiple) ||
      !is_concatenable(output, multiple))
    return "a view is absent, empty or not a multiple of a load";
  if (2 * args.coarse.height != output.height || 2 * args.coarse.width != output.width)
    return "the coarse input does not have half the output's size";
  if (args.fine.height != output.height || args.fine.width != output.width)
    return "the fine input does not have the output's size";
  if (args.coarse.channels + args.fine.channels != output.channels) return "the channels do not add up";
  return nullptr;
}

}  // namespace rangefinder::kernels
