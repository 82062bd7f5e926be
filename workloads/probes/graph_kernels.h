// SPDX-License-Identifier: Apache-2.0
//
// Kernels of graph_kinds. The part of a kernel's name behind its first underscore is the range in which
// its node is created: in_first in the range `first`.
#pragma once

#include <cuda_runtime_api.h>

namespace rangefinder::probe {

/// Host handles of kernels without parameters.
void* in_first();
void* in_second();
void* in_third();
void* in_even();
void* in_odd();
void* in_outer();
void* set_first();  ///< for a node that was created with in_first

/// Loads the kernels below.
cudaError_t load_other_kernels();
/// `*left` = `runs`.
cudaError_t launch_reset(int* left, int runs, cudaStream_t stream);
/// Range `body`: ends the loop of `handle` once it has counted `*left` down to 0.
cudaError_t launch_body(int* left, cudaGraphConditionalHandle handle, cudaStream_t stream);
/// Range `again`: launches its own graph from the device, until it has counted `*left` down to 0.
cudaError_t launch_again(int* left, cudaStream_t stream);
/// Range `choose`: sets the condition of `handle` to (*round)++ % `choices`.
cudaError_t launch_choose(unsigned* round, unsigned choices, cudaGraphConditionalHandle handle,
                          cudaStream_t stream);

}  // namespace rangefinder::probe
