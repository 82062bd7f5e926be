// SPDX-License-Identifier: Apache-2.0
//
// Which arguments of post-processing are refused, and why: one list for launcher and reference.
#pragma once

#include "kernels/postprocess/postprocess.h"

namespace rangefinder::kernels {

/// nullptr: accepted. Else what is wrong.
inline const char* refusal(const PostprocessArgs& args) {
  if (args.images < 0 || args.detections < 0) return "a count is negative";
  if (args.queries <= 0 || args.labels <= 0) return "there are no queries or no labels";
  if (args.queries > 0x7FFFFFFF / args.labels) return "queries * labels does not fit an index";
  if (args.logits == nullptr || args.boxes == nullptr || args.indices == nullptr ||
      args.image_sizes == nullptr || args.output == nullptr)
    return "an operand is absent";
  return nullptr;
}

}  // namespace rangefinder::kernels
