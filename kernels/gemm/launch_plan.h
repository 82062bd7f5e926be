// SPDX-License-Identifier: Apache-2.0
//
// Plan of a product: the tile and the splits of K. The plan minimises a model of time,
//
//   max(blocks on the busiest multiprocessor * stages * cost of a stage,
//       rounds of resident blocks * stages * latency of a stage)
//     + rounds * fixed cost + sums of splits
//
// with the costs of each tile fitted to measurements (see gemm_*.cu). The same arguments give the same plan,
// so results do not depend on earlier launches. Plans are cached: a network requests the same few dozen.
// Any thread may call these functions.
#pragma once

#include "kernels/device_facts.h"
#include "kernels/gemm/implicit_gemm.h"

namespace rangefinder::kernels {

struct LaunchPlan {
  const Tile* tile = nullptr;  ///< nullptr: no tile satisfies the request
  int splits = 1;
  std::size_t workspace_bytes = 0;
};

/// Tiles for `element` on this device.
int tile_count(ElementType element, const DeviceFacts& facts);

/// `gemm` must have blocks_k set. `any_workspace`: plans as if the caller lent all that could help.
LaunchPlan plan_launch(ElementType element, const ImplicitGemm& gemm, const LaunchChoice& choice,
                       const DeviceFacts& facts, bool any_workspace);

}  // namespace rangefinder::kernels
