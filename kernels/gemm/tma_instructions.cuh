// SPDX-License-Identifier: Apache-2.0
//
// Instructions of the tensor memory accelerator (TMA) and of its mbarriers, compute capability 9.0.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace rangefinder::kernels {

/// `barrier`: the shared-memory address of an mbarrier, here and below.
__device__ __forceinline__ void start_barrier(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void arrive(unsigned barrier) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void arrive_and_expect(unsigned barrier, unsigned bytes) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1; }" ::"r"(barrier),
               "r"(bytes)
               : "memory");
}

/// Waits until the phase with this parity has ended.
__device__ __forceinline__ void wait_for_phase(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
      "@done bra.uni ended;\n"
      "bra.uni again;\n"
      "ended:\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

/// Starts the TMA load of one box at these coordinates; its bytes count towards the barrier's phase.
__device__ __forceinline__ void load_box(unsigned shared, const CUtensorMap& map, unsigned barrier,
                                         int channel, int x, int y, int image) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, "
      "%5, %6}], [%2];" ::"r"(shared),
      "l"(reinterpret_cast<std::uint64_t>(&map)), "r"(barrier), "r"(channel), "r"(x), "r"(y), "r"(image)
      : "memory");
#endif
}

}  // namespace rangefinder::kernels
