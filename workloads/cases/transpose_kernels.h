// SPDX-License-Identifier: Apache-2.0
//
// Three versions of a matrix transpose, which differ in their memory access patterns.
//
//   naive    loads rows, stores columns: 4 sectors a load, 32 sectors a store
//   shared   a tile of 32 x 32 words in shared memory: 4 and 4, but a warp reads a column of the tile,
//            32 words in one bank: 31 conflicts a request
//   padded   a tile of 32 x 33 words: 4 and 4, no conflict
//
// Launchers check their arguments and the launch, and never synchronise.
#pragma once

#include <cuda_runtime_api.h>

namespace rangefinder::cases {

enum class Transpose { naive, shared, padded };

/// `target` (columns, rows) from `source` (rows, columns), both row-major. Refuses
/// (cudaErrorInvalidValue) sizes that are 0 or not a multiple of 32.
cudaError_t launch_transpose(Transpose version, float* target, const float* source, int rows, int columns,
                             cudaStream_t stream);

}  // namespace rangefinder::cases
