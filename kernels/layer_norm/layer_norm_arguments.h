// SPDX-License-Identifier: Apache-2.0
//
// Which arguments of a layer normalisation are refused, and why: one list for launcher and reference.
#pragma once

#include "kernels/layer_norm/layer_norm.h"

namespace rangefinder::kernels {

/// nullptr: accepted. Else what is wrong.
inline const char* refusal(const LayerNormArgs& args) {
  if (args.rows < 0) return "the number of rows is negative";
  if (args.channels <= 0 || args.channels > 1024 || args.channels % 32 != 0)
    return "the channels are no multiple of 32 up to 1024";
  if ((args.position == nullptr) != (args.output_with_position == nullptr))
    return "one of position and output_with_position is without the other";
  if (args.position != nullptr && args.position_rows <= 0) return "the position has no rows";
  if (args.rows > 0 &&
      (args.input == nullptr || args.gamma == nullptr || args.beta == nullptr || args.output == nullptr))
    return "input, gamma, beta or output is absent";
  return nullptr;
}

}  // namespace rangefinder::kernels
