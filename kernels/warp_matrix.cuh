// SPDX-License-Identifier: Apache-2.0
//
// Tensor core instructions of a warp: mma.sync, and the ldmatrix loads of its operands. Compute capability
// 8.0 and up.
//
// Lane l of a warp holds of 16-bit operands, with g = l / 4 and t = l % 4:
//   a    (16 x 16)   rows g and g + 8 (registers 0, 1), columns 2t and 2t + 1; columns + 8 in registers 2, 3
//   b    (16 x 8)    rows 2t and 2t + 1 of column g; rows + 8 in the second register
//   sum  (16 x 8)    row g, columns 2t and 2t + 1, then row g + 8
// tf32 operands are half as wide (k = 8): one element of 4 bytes in place of two of 2 bytes.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace rangefinder::kernels {

/// Tag type: fp32 memory with products in tf32.
struct Tf32 {};

/// sum[0..3] += a * b with fp32 sums: 16 rows, 8 columns, 32 bytes of k. The first argument only selects the
/// type of the bits.
__device__ __forceinline__ void multiply_add(Tf32, float* sum, const unsigned (&a)[4], unsigned b0,
                                             unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void multiply_add(__half, float* sum, const unsigned (&a)[4], unsigned b0,
                                             unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void multiply_add(__nv_bfloat16, float* sum, const unsigned (&a)[4], unsigned b0,
                                             unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ unsigned pair_of(float low, float high, __half) {
  const __half2 pair = __floats2half2_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&pair);
}
__device__ __forceinline__ unsigned pair_of(float low, float high, __nv_bfloat16) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&pair);
}

/// Loads four 8x8 matrices of 2-byte elements, or 8x4 of 4 bytes. `row`: the shared_address() of this lane's
/// 16 bytes. `kTransposed`: transposes each.
template <bool kTransposed = false>
__device__ __forceinline__ void load_matrices(unsigned (&matrix)[4], unsigned row) {
  if constexpr (kTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(matrix[0]), "=r"(matrix[1]), "=r"(matrix[2]), "=r"(matrix[3])
                 : "r"(row)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(matrix[0]), "=r"(matrix[1]), "=r"(matrix[2]), "=r"(matrix[3])
                 : "r"(row)
                 : "memory");
}

}  // namespace rangefinder::kernels
