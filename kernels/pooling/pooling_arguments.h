// SPDX-License-Identifier: Apache-2.0
//
// Argument checks of pooling, shared by launchers and references.
#pragma once

#include "kernels/pooling/pooling.h"

namespace rangefinder::kernels {

template <typename View>
constexpr bool is_poolable(const View& view, int multiple) {
  return view.data != nullptr && view.height > 0 && view.width > 0 && view.channels > 0 &&
         view.channels % multiple == 0 && view.pixel_step() % multiple == 0 &&
         view.image_step() % multiple == 0 && view.pixel_step() >= view.channels;
}

/// Why `args` are refused, or nullptr if they are accepted.
inline const char* refusal(const PoolArgs& args) {
  const int multiple = elements_per_load(args.element);
  if (args.images < 0) return "the number of images is negative";
  if (!is_poolable(args.input, multiple) || !is_poolable(args.output, multiple))
    return "a view is absent, empty or not a multiple of a load";
  if (args.input.height % 2 != 0 || args.input.width % 2 != 0) return "height or width is odd";
  if (args.output.height != args.input.height / 2 || args.output.width != args.input.width / 2 ||
      args.output.channels != args.input.channels)
    return "the size of the output does not match";
  return nullptr;
}

}  // namespace rangefinder::kernels
