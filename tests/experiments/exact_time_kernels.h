// SPDX-License-Identifier: Apache-2.0
//
// The kernels of exact_time. `span`: two device words. The first block lowers the first word to its
// %globaltimer, the last block raises the second.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

/// The two words of `span`, in device memory that is never freed.
unsigned long long* make_span();

/// `blocks` of 32 threads, each busy for `clocks` clock cycles.
void launch_spin(unsigned blocks, unsigned long long clocks, unsigned long long* span, cudaStream_t stream);

/// Copies `bytes` (a multiple of 16) in 16-byte words.
void launch_copy(unsigned blocks, unsigned threads, const void* from, void* to, std::size_t bytes,
                 unsigned long long* span);
