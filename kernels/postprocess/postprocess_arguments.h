// SPDX-License-Identifier: Apache-2.0
//
// Argument checks of post-processing, shared by launcher and reference.
#pragma once

#include "kernels/postprocess/postprocess.h"

namespace rangefinder::kernels {

/// Why `args` are refused, or nullptr if they are accepted.
inline const char* refusal(const PostprocessArgs& args) {
  if (args.images < 0 || args.detections < 0) return "a count is negative";
  if (args.queries <= 0 || args.labels <= 0) return "there are no queries or no labels";
  if (args.queries > 0x7FFFFFFF / args.labels) return "queries * labels does not fit an int";
  if (args.logits == nullptr || args.boxes == nullptr || args.indices == nullptr ||
      args.image_sizes == nullptr || args.output == nullptr)
    return "an operand is absent";
  return nullptr;
}

}  // namespace rangefinder::kernels
