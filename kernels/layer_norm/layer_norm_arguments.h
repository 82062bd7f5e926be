// SPDX-License-Identifier: Apache-2.0
//
// Argument checks of layer normalisation, shared by launcher and reference.
#pragma once

#include "kernels/layer_norm/layer_norm.h"

namespace rangefinder::kernels {

/// Why `args` are refused, or nullptr if they are accepted.
inline const char* refusal(const LayerNormArgs& args) {
  if (args.rows < 0) return "the number of rows is negative";
  if (args.channels <= 0 || args.channels > 1024 || args.channels % 32 != 0)
    return "the number of channels is not a multiple of 32 up to 1024";
  if ((args.position == nullptr) != (args.output_with_position == nullptr))
    return "position and output_with_position are needed together";
  if (args.position != nullptr && args.position_rows <= 0) return "the position has no rows";
  if (args.rows > 0 &&
      (args.input == nullptr || args.gamma == nullptr || args.beta == nullptr || args.output == nullptr))
    return "input, gamma, beta or output is absent";
  return nullptr;
}

}  // namespace rangefinder::kernels
