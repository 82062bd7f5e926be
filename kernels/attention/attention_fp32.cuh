// SPDX-License-Identifier: Apache-2.0
//
// Fused attention in fp32 on CUDA cores. tf32 uses it too: the two products of attention are a thousandth
// of the network's work, not worth a third kernel.
#pragma once

#include "kernels/attention/attention.h"
#include "kernels/dependent_launch.cuh"
#include "kernels/packed_elements.cuh"
#include "kernels/warp_reduce.cuh"

namespace rangefinder::kernels::attention_fp32 {

constexpr int kWarps = 4;
constexpr int kQueries = 4;  // per warp
constexpr int kBlockQueries = kWarps * kQueries;
constexpr int kChunk = 64;  // keys in shared memory: two per lane
constexpr float kLog2E = 1.4426950408889634f;

/// Rows [0, kRows) of `source` from `first` on; rows past `count` become zero.
template <int kChannels, int kRows>
__device__ __forceinline__ void copy_rows(float (*shared)[kChannels + 4], const float* source,
                                          std::int64_t row_stride, int count) {
  constexpr int kPacks = kChannels / 4;
  for (int i = static_cast<int>(threadIdx.x); i < kRows * kPacks; i += kWarps * 32) {
    const int row = i / kPacks;
    const int channel = i % kPacks * 4;
    float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (row < count) four = *reinterpret_cast<const float4*>(source + row * row_stride + channel);
    *reinterpret_cast<float4*>(&shared[row][channel]) = four;
  }
}

__device__ __forceinline__ float dot(float4 a, float4 b, float sum) {
  return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
}

// Fused multi-head attention, fp32.
//
//   out[b,i,h,:] = sum_j softmax_j(scale * q[b,i,h,:] . k[b,j,h,:]) v[b,j,h,:]
//
// Shapes   q, k, v: (B, rows, H * D) as slices of a packed projection, D = 32 or 48; out: (B, Q, H * D)
// Tiling   a warp owns 4 queries of one head. Keys and values come in chunks of 64. A lane owns two keys
//          for the scores, and one channel (two if D = 48) for the sums. Probabilities move between lanes
//          through shared memory. Running maximum and sum.
// Bytes    keys and values once per 16 queries of a head, from L2
// Numerics fp32 fused multiply-add, exp2f; the order of all sums is fixed
// Checked  tests/kernels/attention_check.cpp: 5e-6 absolute for values up to 1.
template <int kChannels>
__global__ void __launch_bounds__(kWarps * 32) attention_kernel(AttentionArgs args) {
  wait_for_predecessor();
  __shared__ __align__(16) float keys[kChunk][kChannels + 4];
  __shared__ __align__(16) float values[kChunk][kChannels + 4];
  __shared__ __align__(16) float queries[kBlockQueries][kChannels + 4];
  __shared__ float4 probability[kWarps][kChunk];  // for 4 queries
  constexpr int kOwned = (kChannels + 31) / 32;   // channels per lane
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int blocks = (args.queries + kBlockQueries - 1) / kBlockQueries;  // per head
  const int head = static_cast<int>(blockIdx.x) / blocks % args.heads;
  const int image = static_cast<int>(blockIdx.x) / blocks / args.heads;
  const int first = static_cast<int>(blockIdx.x) % blocks * kBlockQueries;
  const auto head_of = [&](const AttentionOperand& operand, int row) {
    return static_cast<const float*>(operand.data) + image * operand.image_stride + row * operand.row_stride +
           head * kChannels;
  };
  copy_rows<kChannels, kBlockQueries>(queries, head_of(args.query, first), args.query.row_stride,
                                      args.queries - first);
  const float infinity = __int_as_float(0x7F800000);
  float greatest[kQueries];
  float total[kQueries] = {};
  float sum[kQueries][kOwned] = {};
#pragma unroll
  for (float& value : greatest) value = -infinity;

  for (int start = 0; start < args.keys; start += kChunk) {
    const int count = args.keys - start;
    __syncthreads();  // all warps are done with the previous chunk
    copy_rows<kChannels, kChunk>(keys, head_of(args.key, start), args.key.row_stride, count);
    copy_rows<kChannels, kChunk>(values, head_of(args.value, start), args.value.row_stride, count);
    __syncthreads();
    float score[kQueries][2] = {};
#pragma unroll
    for (int channel = 0; channel < kChannels; channel += 4) {
      const float4 near = *reinterpret_cast<const float4*>(&keys[lane][channel]);
      const float4 far = *reinterpret_cast<const float4*>(&keys[lane + 32][channel]);
#pragma unroll
      for (int q = 0; q < kQueries; ++q) {
        const float4 query = *reinterpret_cast<const float4*>(&queries[warp * kQueries + q][channel]);
        score[q][0] = dot(query, near, score[q][0]);
        score[q][1] = dot(query, far, score[q][1]);
      }
    }
#pragma unroll
    for (int q = 0; q < kQueries; ++q) {
#pragma unroll
      for (int part = 0; part < 2; ++part)
        score[q][part] = lane + part * 32 < count ? score[q][part] * (args.scale * kLog2E) : -infinity;
      const float now = fmaxf(greatest[q], warp_maximum(fmaxf(score[q][0], score[q][1])));
      const float base = now == -infinity ? 0.0f : now;
      const float earlier = exp2f(greatest[q] - base);
      greatest[q] = now;
      score[q][0] = exp2f(score[q][0] - base);
      score[q][1] = exp2f(score[q][1] - base);
      total[q] = total[q] * earlier + (score[q][0] + score[q][1]);
#pragma unroll
      for (float& value : sum[q]) value *= earlier;
    }
    probability[warp][lane] = make_float4(score[0][0], score[1][0], score[2][0], score[3][0]);
    probability[warp][lane + 32] = make_float4(score[0][1], score[1][1], score[2][1], score[3][1]);
    __syncwarp();
    for (int key = 0; key < min(kChunk, count); ++key) {
      const float4 p = probability[warp][key];
#pragma unroll
      for (int part = 0; part < kOwned; ++part) {
        if (lane + part * 32 >= kChannels) continue;
        const float value = values[key][lane + part * 32];
        sum[0][part] = fmaf(p.x, value, sum[0][part]);
        sum[1][part] = fmaf(p.y, value, sum[1][part]);
        sum[2][part] = fmaf(p.z, value, sum[2][part]);
        sum[3][part] = fmaf(p.w, value, sum[3][part]);
      }
    }
  }
#pragma unroll
  for (int q = 0; q < kQueries; ++q) {
    const float all = warp_sum(total[q]);
    const int row = first + warp * kQueries + q;
    float* const target = static_cast<float*>(args.output) +
                          ((std::int64_t{image} * args.queries + row) * args.heads + head) * kChannels;
#pragma unroll
    for (int part = 0; part < kOwned; ++part)
      if (row < args.queries && lane + part * 32 < kChannels) target[lane + part * 32] = sum[q][part] / all;
  }
}

}  // namespace rangefinder::kernels::attention_fp32
