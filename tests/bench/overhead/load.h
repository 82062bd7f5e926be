// SPDX-License-Identifier: Apache-2.0
//
// The work whose slow-down `overhead/run` measures, as a library for a long-lived Python process. So one
// process can do the same work again and again, under the profiler it was started with.
//
//   run ── socket ──▶ worker.py ── ctypes ──▶ load_storm, load_graph, load_tokens, load_rtdetr
//
// Every function does its warm-up first, then the work, and waits for the GPU. It returns the seconds from
// the first launch to the end of the last piece of work, or a negative value after an error on stderr. One
// calling thread. Not part of the product.
#pragma once

#include <cstdint>

#define RANGEFINDER_LOAD __attribute__((visibility("default")))

extern "C" {

/// `launches` of an empty kernel of 132 blocks in total, from `threads` threads with a stream each, in NVTX
/// ranges of `range_launches` launches each (0: no ranges).
RANGEFINDER_LOAD double load_storm(std::uint32_t threads, std::uint64_t launches,
                                   std::uint64_t range_launches);

/// `launches` of a CUDA graph of `nodes` dependent empty kernels, captured once.
RANGEFINDER_LOAD double load_graph(std::uint32_t nodes, std::uint64_t launches);

/// `tokens` times: a capture of `nodes` kernels, an update of one executable in place, its launch, the wait.
RANGEFINDER_LOAD double load_tokens(std::uint32_t nodes, std::uint64_t tokens);

/// `passes` of RT-DETR R50, fp16, 640x640, batch 1, as a graph or as single launches.
RANGEFINDER_LOAD double load_rtdetr(int as_graph, std::uint64_t passes);
}
