// SPDX-License-Identifier: Apache-2.0
//
// Memory that a launch may scribble on: partial sums of split-K and the counters that say which block
// of a tile comes last. The caller owns it; no launcher allocates.
//
// The first kWorkspaceCounterBytes must be zero before the first launch and every launch leaves them
// zero, so one workspace serves all launches of one stream, captured or not. Two streams need two.
#pragma once

#include <cstddef>

namespace rangefinder::kernels {

inline constexpr std::size_t kWorkspaceCounterBytes = 64 * 1024;

struct Workspace {
  void* data = nullptr;   ///< 256-byte aligned; nullptr: the launch does without split-K
  std::size_t bytes = 0;  ///< kWorkspaceCounterBytes and what follows them; too few: without split-K
};

}  // namespace rangefinder::kernels
