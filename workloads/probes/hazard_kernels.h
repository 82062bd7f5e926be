// SPDX-License-Identifier: Apache-2.0
//
// Kernels that wait: for a flag, for the kernel before them, for their whole grid. Every
// launcher checks nothing but the launch and never synchronises.
#pragma once

#include <cuda_runtime_api.h>

namespace rangefinder::probe {

/// Spins until `*flag` is `wanted`; after 20 s it adds 1 to `*gave_up` and ends.
cudaError_t launch_wait_until(const unsigned* flag, unsigned wanted, unsigned* gave_up, cudaStream_t stream);
cudaError_t launch_set_flag(unsigned* flag, unsigned value, cudaStream_t stream);
/// Adds 1 to `*sum`; launched programmatically, so that it may begin before the one before has ended.
cudaError_t launch_in_chain(unsigned* sum, cudaStream_t stream);
/// 32 blocks that synchronise, and add 1 each to `*sum`.
cudaError_t launch_meet_in_grid(unsigned* sum, cudaStream_t stream);

}  // namespace rangefinder::probe
