// SPDX-License-Identifier: Apache-2.0
//
// Kernels of the probes. Launchers check only the launch, never synchronise and return cudaGetLastError();
// `bytes` is a multiple of 16 and pointers are aligned to 16 bytes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace rangefinder::probe {

/// Does nothing in `blocks` blocks of 32 threads.
cudaError_t launch_empty(unsigned blocks, cudaStream_t stream);
/// Host handle of the same kernel, which has no parameters, for graphs built by hand.
void* empty_kernel();

/// Reads and writes `bytes` once, 16 bytes per thread and step.
cudaError_t launch_copy(void* target, const void* source, std::size_t bytes, cudaStream_t stream,
                        unsigned most_blocks = 0);
/// Reads `bytes` once. The xor of all words ends in `*result` (8 bytes), so that no load is optimised away.
/// `most_blocks`: a small grid leaves multiprocessors and bandwidth to other streams; 0: no limit.
cudaError_t launch_read(std::uint64_t* result, const void* source, std::size_t bytes, cudaStream_t stream,
                        unsigned most_blocks = 0);
/// Writes `bytes` once.
cudaError_t launch_write(void* target, std::size_t bytes, std::uint32_t value, cudaStream_t stream,
                         unsigned most_blocks = 0);
/// Fills with pseudo-random words: zeros would compress and save power.
cudaError_t launch_random(void* target, std::size_t bytes, std::uint32_t seed, cudaStream_t stream);
/// Adds 1 to every 4-byte word.
cudaError_t launch_increment(std::uint32_t* words, std::size_t count, cudaStream_t stream);
/// One block that is busy for about `duration_ns`.
cudaError_t launch_spin(std::uint64_t duration_ns, cudaStream_t stream);

}  // namespace rangefinder::probe
