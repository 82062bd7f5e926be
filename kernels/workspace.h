// SPDX-License-Identifier: Apache-2.0
//
// Scratch memory of a launch: partial sums of split-K, and the counters that find the last block of a tile.
// The caller owns it; no launcher allocates.
//
// The first kWorkspaceCounterBytes must be zero before the first launch, and every launch leaves them zero.
// So one workspace serves all launches of one stream, captured or not. Two streams need two.
#pragma once

#include <cstddef>

namespace rangefinder::kernels {

inline constexpr std::size_t kWorkspaceCounterBytes = 64 * 1024;

struct Workspace {
  void* data = nullptr;   ///< 256-byte aligned; nullptr: no split-K
  std::size_t bytes = 0;  ///< kWorkspaceCounterBytes plus the partial sums; too few: no split-K
};

}  // namespace rangefinder::kernels
