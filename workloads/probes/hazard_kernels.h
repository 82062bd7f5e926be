// SPDX-License-Identifier: Apache-2.0
//
// Kernels that wait: for a flag, for the previous kernel, for their whole grid. Launchers check only the
// launch and never synchronise.
#pragma once

#include <cuda_runtime_api.h>

namespace rangefinder::probe {

/// Spins until `*flag` is `wanted`; after 20 s it adds 1 to `*gave_up` and ends.
cudaError_t launch_wait_until(const unsigned* flag, unsigned wanted, unsigned* gave_up, cudaStream_t stream);
cudaError_t launch_set_flag(unsigned* flag, unsigned value, cudaStream_t stream);
/// Adds 1 to `*sum`; a programmatic dependent launch: it may begin before the previous kernel has ended.
cudaError_t launch_in_chain(unsigned* sum, cudaStream_t stream);
/// 32 blocks that synchronise, then add 1 each to `*sum`.
cudaError_t launch_meet_in_grid(unsigned* sum, cudaStream_t stream);

}  // namespace rangefinder::probe
