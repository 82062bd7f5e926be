// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/findings/stall_advice.h"

#include <algorithm>
#include <iterator>

namespace rangefinder {
namespace {

constexpr const char* kWide = "const float4 words = reinterpret_cast<const float4*>(input)[i];";

constexpr StallAdvice kStallAdvice[] = {
    {"stall_long_scoreboard", "for loads from memory",
     "keep more bytes in flight: coalesce, load wider words or several before their use, prefetch with "
     "cp.async or TMA, and keep what is used again in shared memory",
     kWide},
    {"stall_gmma", "for products of warp groups",
     "keep more than one product of a warp group in flight, and more stages of tiles in shared memory",
     "warpgroup_wait<1>();"},
    {"stall_drain", "for its last stores",
     "coalesce the stores at the end of the kernel, or spread them over its work", kWide},
    {"stall_imc_miss", "for constants",
     "let all threads of a warp read the same constant, and load other values through global memory", ""},
    {"stall_short_scoreboard", "for shared memory or special functions",
     "remove bank conflicts, make fewer and wider accesses to shared memory, and use fewer special functions "
     "(exp, sin, reciprocal)",
     "__shared__ float tile[32][33];"},
    {"stall_wait", "for the fixed latency of instructions",
     "give each thread independent instructions (unroll its loops), or each multiprocessor more warps",
     "#pragma unroll 4"},
    {"stall_barrier", "at barriers",
     "use smaller blocks, give their warps equal work, and do less between barriers",
     "__syncwarp();  // where only one warp shares the data"},
    {"stall_lg_throttle", "for the queue of loads and stores",
     "access wider words instead of several narrow ones, and keep local arrays in registers", kWide},
    {"stall_mio_throttle", "for the queue of shared memory and special functions",
     "make fewer and wider accesses to shared memory, and use fewer special functions and dynamic branches",
     "const float4 words = *reinterpret_cast<const float4*>(&tile[row][column]);"},
    {"stall_membar", "for memory barriers", "use fewer fences, and fences of the block where they are enough",
     "__threadfence_block();"},
    {"stall_no_instruction", "for instructions",
     "make the hot code smaller than the instruction cache: unroll and inline less", "#pragma unroll 1"},
    {"stall_branch_resolving", "for the targets of branches",
     "take branches out of the inner loops: unroll them, or select a value instead", "#pragma unroll"},
    {"stall_dispatch_stall", "for the dispatcher",
     "check the instructions with most samples in Nsight Compute: busy units and conflicts between registers "
     "hold them back",
     ""},
    {"stall_sleeping", "asleep", "sleep for a shorter time, or wait at a barrier object instead",
     "cuda::barrier<cuda::thread_scope_block>"},
    {"stall_tex_throttle", "for the queue of textures",
     "read fewer textures at a time, or read the data by loads from global memory", ""},
};

}  // namespace

std::span<const StallAdvice> stall_advice() noexcept {
  return kStallAdvice;
}

const StallAdvice* find_stall_advice(std::string_view metric) noexcept {
  const auto at = std::find_if(std::begin(kStallAdvice), std::end(kStallAdvice),
                               [metric](const StallAdvice& advice) { return advice.metric == metric; });
  return at == std::end(kStallAdvice) ? nullptr : at;
}

}  // namespace rangefinder
