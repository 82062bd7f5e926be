// SPDX-License-Identifier: Apache-2.0
//
// wgmma.mma_async for one 64 x N x 32 bytes step, N in {64, 128, 256}: D += A * B. A and B are in shared
// memory by descriptor, D in the registers of a warpgroup. A macro, because the instruction must list each
// register.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace rangefinder::kernels {

// clang-format off
#define RANGEFINDER_OPERANDS_8(d, o) "+f"(d[o]), "+f"(d[o + 1]), "+f"(d[o + 2]), "+f"(d[o + 3]), "+f"(d[o + 4]), "+f"(d[o + 5]), "+f"(d[o + 6]), "+f"(d[o + 7])
#define RANGEFINDER_OPERANDS_32(d, o) RANGEFINDER_OPERANDS_8(d, o), RANGEFINDER_OPERANDS_8(d, o + 8), RANGEFINDER_OPERANDS_8(d, o + 16), RANGEFINDER_OPERANDS_8(d, o + 24)
#define RANGEFINDER_OPERANDS_64(d, o) RANGEFINDER_OPERANDS_32(d, o), RANGEFINDER_OPERANDS_32(d, o + 32)
#define RANGEFINDER_OPERANDS_128(d, o) RANGEFINDER_OPERANDS_64(d, o), RANGEFINDER_OPERANDS_64(d, o + 64)
#define RANGEFINDER_NAMES_32 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define RANGEFINDER_NAMES_64 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define RANGEFINDER_NAMES_128 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define RANGEFINDER_WGMMA_64(type, d, a, b) \
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type " {" RANGEFINDER_NAMES_32 "}, %32, %33, 1, 1, 1, 0, 0;" \
               : RANGEFINDER_OPERANDS_32(d, 0) : "l"(a), "l"(b))
#define RANGEFINDER_WGMMA_128(type, d, a, b) \
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type " {" RANGEFINDER_NAMES_64 "}, %64, %65, 1, 1, 1, 0, 0;" \
               : RANGEFINDER_OPERANDS_64(d, 0) : "l"(a), "l"(b))
#define RANGEFINDER_WGMMA_256(type, d, a, b) \
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32." type "." type " {" RANGEFINDER_NAMES_128 "}, %128, %129, 1, 1, 1, 0, 0;" \
               : RANGEFINDER_OPERANDS_128(d, 0) : "l"(a), "l"(b))
// clang-format on

/// d: this thread's kColumns / 2 accumulators.
template <int kColumns>
__device__ __forceinline__ void multiply_add_group(__half, float* d, std::uint64_t a, std::uint64_t b) {
  if constexpr (kColumns == 64) RANGEFINDER_WGMMA_64("f16", d, a, b);
  if constexpr (kColumns == 128) RANGEFINDER_WGMMA_128("f16", d, a, b);
  if constexpr (kColumns == 256) RANGEFINDER_WGMMA_256("f16", d, a, b);
}

template <int kColumns>
__device__ __forceinline__ void multiply_add_group(__nv_bfloat16, float* d, std::uint64_t a,
                                                   std::uint64_t b) {
  if constexpr (kColumns == 64) RANGEFINDER_WGMMA_64("bf16", d, a, b);
  if constexpr (kColumns == 128) RANGEFINDER_WGMMA_128("bf16", d, a, b);
  if constexpr (kColumns == 256) RANGEFINDER_WGMMA_256("bf16", d, a, b);
}

}  // namespace rangefinder::kernels
