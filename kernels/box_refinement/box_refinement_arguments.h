// SPDX-License-Identifier: Apache-2.0
//
// Argument checks of box refinement, shared by launcher and reference.
#pragma once

#include "kernels/box_refinement/box_refinement.h"

namespace rangefinder::kernels {

/// Why `args` are refused, or nullptr if they are accepted.
inline const char* refusal(const BoxRefinementArgs& args) {
  if (args.images < 0 || args.queries < 0 || args.anchor_rows < 0) return "a count is negative";
  if ((args.anchors == nullptr) == (args.previous == nullptr))
    return "exactly one of anchors and previous is needed";
  if (args.anchors != nullptr && args.indices == nullptr) return "anchors need indices";
  if (args.delta == nullptr || args.boxes == nullptr) return "delta or boxes is absent";
  return nullptr;
}

}  // namespace rangefinder::kernels
