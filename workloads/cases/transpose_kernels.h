// SPDX-License-Identifier: Apache-2.0
//
// Three ways to transpose a matrix of floats, which differ in how a warp meets memory.
//
//   naive    loads rows, stores columns: 4 sectors a load, 32 sectors a store
//   shared   a tile of 32 x 32 words in shared memory: 4 and 4, but a warp reads a column of the tile,
//            32 words of one bank: 31 conflicts a request
//   padded   a tile of 32 x 33 words: 4 and 4, no conflict
//
// Launchers check their arguments and the launch, and never synchronise.
#pragma once

#include <cuda_runtime_api.h>

namespace rangefinder::cases {

enum class Transpose { naive, shared, padded };

/// `target` (columns, rows) from `source` (rows, columns), both row-major. Refuses
/// (cudaErrorInvalidValue) sizes that are no multiple of 32, or 0.
cudaError_t launch_transpose(Transpose version, float* target, const float* source, int rows, int columns,
                             cudaStream_t stream);

}  // namespace rangefinder::cases
