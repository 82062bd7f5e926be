// SPDX-License-Identifier: Apache-2.0
//
// Which arguments of a box refinement are refused, and why: one list for launcher and reference.
#pragma once

#include "kernels/box_refinement/box_refinement.h"

namespace rangefinder::kernels {

/// nullptr: accepted. Else what is wrong.
inline const char* refusal(const BoxRefinementArgs& args) {
  if (args.images < 0 || args.queries < 0 || args.anchor_rows < 0) return "a count is negative";
  if ((args.anchors == nullptr) == (args.previous == nullptr))
    return "neither or both of anchors and previous";
  if (args.anchors != nullptr && args.indices == nullptr) return "anchors without indices";
  if (args.delta == nullptr || args.boxes == nullptr) return "delta or boxes is absent";
  return nullptr;
}

}  // namespace rangefinder::kernels
