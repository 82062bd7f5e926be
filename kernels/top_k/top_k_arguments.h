// SPDX-License-Identifier: Apache-2.0
//
// Argument checks of top_k, shared by launcher and reference.
#pragma once

#include "kernels/top_k/top_k.h"

namespace rangefinder::kernels {

inline constexpr int kMaxChosen = 1024;
inline constexpr int kMaxRows = 65536;

/// Why `args` are refused, or nullptr if they are accepted.
inline const char* refusal(const TopKArgs& args) {
  if (args.images < 0 || args.rows < 0 || args.k < 0) return "a count is negative";
  if (args.columns <= 0) return "there are no columns";
  if (args.k > args.rows) return "k is greater than the number of rows";
  if (args.k > kMaxChosen) return "k is greater than 1024";
  if (args.rows > kMaxRows) return "there are more than 65536 rows";
  if (args.images > 0 && args.k > 0 && (args.scores == nullptr || args.indices == nullptr))
    return "scores or indices is absent";
  return nullptr;
}

}  // namespace rangefinder::kernels
