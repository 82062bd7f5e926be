// SPDX-License-Identifier: Apache-2.0
//
// Fused attention for 16-bit types on tensor cores. The parts of one warp's work are functions; the
// kernel at the end combines them.
#pragma once

#include "kernels/async_copy.cuh"
#include "kernels/attention/attention.h"
#include "kernels/dependent_launch.cuh"
#include "kernels/packed_elements.cuh"
#include "kernels/warp_matrix.cuh"
#include "kernels/warp_reduce.cuh"

namespace rangefinder::kernels::attention_mma {

constexpr int kTile = 16;         // queries per warp; keys per step
constexpr int kSplits = 4;        // warps that share the keys of a query tile
constexpr int kTilesPerWarp = 7;  // key tiles per warp and chunk: scores stay in registers
constexpr int kMaxChunkKeys = kTile * kSplits * kTilesPerWarp;  // 448
constexpr float kLog2E = 1.4426950408889634f;

/// Row stride of keys and values in shared memory, in elements. 16 bytes more than a row, so that the 8 rows
/// of an ldmatrix are in different banks.
template <int kChannels>
constexpr int kRowStep = kChannels + 8;

/// Floats in a row that a warp publishes: sums, then maximum and total.
template <int kChannels>
constexpr int kPartialStep = kChannels + 4;

template <typename Element, int kChannels, int kQueryTiles>
constexpr int shared_bytes(int chunk_keys) {
  return 2 * chunk_keys * kRowStep<kChannels> * static_cast<int>(sizeof(Element)) +
         kQueryTiles * kSplits * kTile * kPartialStep<kChannels> * 4;
}

__device__ __forceinline__ float exp2_of(float value) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}

/// Starts the cp.async loads of `count` rows into shared memory; rows up to `padded` become zero. No wait.
template <typename Element, int kChannels>
__device__ __forceinline__ void copy_rows(Element* shared, const Element* source, std::int64_t row_stride,
                                          int count, int padded) {
  constexpr int kPacks = kChannels / 8;
  for (int i = static_cast<int>(threadIdx.x); i < padded * kPacks; i += static_cast<int>(blockDim.x)) {
    const int row = i / kPacks;
    const int channel = i % kPacks * 8;
    copy_chunk_async<CachedIn::l2>(shared_address(shared + row * kRowStep<kChannels> + channel),
                                   source + (row < count ? row : 0) * row_stride + channel, row < count);
  }
  commit_copies();
}

/// The queries of a warp as mma fragments; rows outside are zero.
template <typename Element, int kChannels>
__device__ __forceinline__ void load_queries(unsigned (&query)[kChannels / 16][4], const Element* head,
                                             std::int64_t row_stride, int first, int rows) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int step = 0; step < kChannels / 16; ++step)
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      const int row = first + lane / 4 + part % 2 * 8;
      const int channel = step * 16 + lane % 4 * 2 + part / 2 * 8;
      query[step][part] =
          row < rows ? *reinterpret_cast<const unsigned*>(head + row * row_stride + channel) : 0u;
    }
}

/// A warp's running state for 16 queries. A lane's rows are lane / 4 and lane / 4 + 8.
template <int kChannels>
struct Running {
  float sum[kChannels / 8][4] = {};
  float greatest[2];
  float total[2] = {};  ///< this lane's columns only, until the end
  __device__ Running() { greatest[0] = greatest[1] = __int_as_float(0xFF800000); }  // -inf
};

using Scores = float[kTilesPerWarp][2][4];

/// Scores of this warp's key tiles, not yet scaled; -inf past the last key.
template <typename Element, int kChannels>
__device__ __forceinline__ void compute_scores(Scores& score, const unsigned (&query)[kChannels / 16][4],
                                               const Element* keys, int split, int count) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int lane_row = lane / 16 * 8 + lane % 8;
  const int lane_channel = lane / 8 % 2 * 8;
#pragma unroll
  for (int i = 0; i < kTilesPerWarp; ++i) {
    const int first = (i * kSplits + split) * kTile;
#pragma unroll
    for (int part = 0; part < 8; ++part) score[i][part / 4][part % 4] = 0.0f;
    if (first < count) {
#pragma unroll
      for (int step = 0; step < kChannels / 16; ++step) {
        unsigned key[4];
        load_matrices(
            key, shared_address(keys + (first + lane_row) * kRowStep<kChannels> + step * 16 + lane_channel));
        multiply_add(Element{}, score[i][0], query[step], key[0], key[1]);
        multiply_add(Element{}, score[i][1], query[step], key[2], key[3]);
      }
    }
    if (first + kTile <= count) continue;
#pragma unroll
    for (int part = 0; part < 8; ++part)
      if (first + part / 4 * 8 + lane % 4 * 2 + part % 2 >= count)
        score[i][part / 4][part % 4] = __int_as_float(0xFF800000);
  }
}

/// Turns scores into exp2(scale * (score - greatest)), scale > 0, and rescales the earlier sums to the new
/// maximum.
template <int kChannels>
__device__ __forceinline__ void exponentiate(Scores& score, Running<kChannels>& running, float scale) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float greatest = running.greatest[half];
#pragma unroll
    for (int i = 0; i < kTilesPerWarp; ++i)
#pragma unroll
      for (int part = 0; part < 4; ++part)
        greatest = fmaxf(greatest, score[i][part / 2][half * 2 + part % 2]);
    greatest = group_maximum<1, 4>(greatest);
    // No key yet: subtract 0, so that -inf stays -inf and does not become NaN.
    const float base = greatest == __int_as_float(0xFF800000) ? 0.0f : greatest * scale;
    const float earlier = exp2_of(fmaf(running.greatest[half], scale, -base));
    running.greatest[half] = greatest;
    running.total[half] *= earlier;
#pragma unroll
    for (int tile = 0; tile < kChannels / 8; ++tile) {
      running.sum[tile][half * 2] *= earlier;
      running.sum[tile][half * 2 + 1] *= earlier;
    }
#pragma unroll
    for (int i = 0; i < kTilesPerWarp; ++i)
#pragma unroll
      for (int part = 0; part < 4; ++part) {
        float& own = score[i][part / 2][half * 2 + part % 2];
        own = exp2_of(fmaf(own, scale, -base));
        running.total[half] += own;
      }
  }
}

template <typename Element, int kChannels>
__device__ __forceinline__ void add_values(Running<kChannels>& running, const Scores& score,
                                           const Element* values, int split, int count) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int lane_row = lane / 8 % 2 * 8 + lane % 8;
  const int lane_channel = lane / 16 * 8;
#pragma unroll
  for (int i = 0; i < kTilesPerWarp; ++i) {
    const int first = (i * kSplits + split) * kTile;
    if (first >= count) continue;
    const unsigned weight[4] = {pair_of(score[i][0][0], score[i][0][1], Element{}),
                                pair_of(score[i][0][2], score[i][0][3], Element{}),
                                pair_of(score[i][1][0], score[i][1][1], Element{}),
                                pair_of(score[i][1][2], score[i][1][3], Element{})};
#pragma unroll
    for (int step = 0; step < kChannels / 16; ++step) {
      unsigned value[4];
      load_matrices<true>(value, shared_address(values + (first + lane_row) * kRowStep<kChannels> +
                                                step * 16 + lane_channel));
      multiply_add(Element{}, running.sum[step * 2], weight, value[0], value[1]);
      multiply_add(Element{}, running.sum[step * 2 + 1], weight, value[2], value[3]);
    }
  }
}

/// Publishes a warp's partial result: (16 rows, kPartialStep), greatest and total after the sums.
template <int kChannels>
__device__ __forceinline__ void store_partial(float* partial, Running<kChannels>& running) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    running.total[half] = group_sum<1, 4>(running.total[half]);
    float* const row = partial + (lane / 4 + half * 8) * kPartialStep<kChannels>;
#pragma unroll
    for (int tile = 0; tile < kChannels / 8; ++tile)
      *reinterpret_cast<float2*>(row + tile * 8 + lane % 4 * 2) =
          make_float2(running.sum[tile][half * 2], running.sum[tile][half * 2 + 1]);
    if (lane % 4 == 0) {
      row[kChannels] = running.greatest[half];
      row[kChannels + 1] = running.total[half];
    }
  }
}

/// Combines two channels of one query from the partial results of its splits, always in the same order.
template <int kChannels>
__device__ __forceinline__ float2 joined(const float* partial, int row, int channel, float scale) {
  float greatest = __int_as_float(0xFF800000);
#pragma unroll
  for (int split = 0; split < kSplits; ++split)
    greatest = fmaxf(greatest, partial[(split * kTile + row) * kPartialStep<kChannels> + kChannels]);
  float2 sum = make_float2(0.0f, 0.0f);
  float total = 0;
#pragma unroll
  for (int split = 0; split < kSplits; ++split) {
    const float* const share = partial + (split * kTile + row) * kPartialStep<kChannels>;
    const float weight = exp2_of((share[kChannels] - greatest) * scale);
    const float2 own = *reinterpret_cast<const float2*>(share + channel);
    total += weight * share[kChannels + 1];
    sum.x += weight * own.x;
    sum.y += weight * own.y;
  }
  return make_float2(sum.x / total, sum.y / total);
}

// Fused multi-head attention, 16-bit types.
//
//   out[b,i,h,:] = sum_j softmax_j(scale * q[b,i,h,:] . k[b,j,h,:]) v[b,j,h,:]
//
// Shapes   q, k, v: (B, rows, H * D) as slices of a packed projection, D = 32 or 48; out: (B, Q, H * D)
// Tiling   a block owns kQueryTiles * 16 queries of one head and holds up to 448 keys and values in shared
//          memory (400 of 32 halves: 64 KB with padding). Four warps share the keys of a query tile: each
//          takes every fourth tile of 16. Their scores fit in registers, so softmax is exact in one pass.
//          The four partial results are combined through shared memory. More keys come in chunks with a
//          running maximum and sum.
// Bytes    0.8 MB at batch 1, S = 400; each of the ceil(Q / 32) blocks of a head reads keys and values
//          again, from L2. Bound by latency: load, two chains of mma, 56 exponentials a lane.
// Numerics fp32 scores, softmax and sums; probabilities rounded to the type for the second product;
//          ex2.approx (2 ulp of fp32)
// Checked  tests/kernels/attention_check.cpp against attention_reference.cpp: fp16 1e-3, bf16 8e-3 of the
//          greatest value, absolute.
template <typename Element, int kChannels, int kQueryTiles>
__global__ void __launch_bounds__(kQueryTiles* kSplits * 32)
    attention_kernel(AttentionArgs args, int chunk_keys) {
  wait_for_predecessor();
  extern __shared__ uint4 shared[];
  Element* const keys = reinterpret_cast<Element*>(shared);         // (chunk_keys, kRowStep)
  Element* const values = keys + chunk_keys * kRowStep<kChannels>;  // (chunk_keys, kRowStep)
  float* const partials = reinterpret_cast<float*>(values + chunk_keys * kRowStep<kChannels>);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int split = warp % kSplits;
  const int blocks = (args.queries + kQueryTiles * kTile - 1) / (kQueryTiles * kTile);  // per head
  const int head = static_cast<int>(blockIdx.x) / blocks % args.heads;
  const int image = static_cast<int>(blockIdx.x) / blocks / args.heads;
  const int first_query = static_cast<int>(blockIdx.x) % blocks * kQueryTiles * kTile;
  const auto head_of = [&](const AttentionOperand& operand) {
    return static_cast<const Element*>(operand.data) + image * operand.image_stride + head * kChannels;
  };

  const float scale = args.scale * kLog2E;
  unsigned query[kChannels / 16][4];
  Running<kChannels> running;
  for (int start = 0; start < args.keys; start += chunk_keys) {
    const int count = min(chunk_keys, args.keys - start);
    const int padded = (count + kTile - 1) / kTile * kTile;
    if (start != 0) __syncthreads();  // all warps are done with the previous chunk
    copy_rows<Element, kChannels>(keys, head_of(args.key) + start * args.key.row_stride, args.key.row_stride,
                                  count, padded);
    copy_rows<Element, kChannels>(values, head_of(args.value) + start * args.value.row_stride,
                                  args.value.row_stride, count, padded);
    if (start == 0)
      load_queries<Element, kChannels>(query, head_of(args.query), args.query.row_stride,
                                       first_query + warp / kSplits * kTile, args.queries);
    wait_for_copies<1>();
    __syncthreads();
    Scores score;
    compute_scores<Element, kChannels>(score, query, keys, split, count);
    exponentiate(score, running, scale);
    wait_for_copies<0>();
    __syncthreads();
    add_values<Element, kChannels>(running, score, values, split, count);
  }
  store_partial(partials + warp * kTile * kPartialStep<kChannels>, running);
  __syncthreads();

  constexpr int kPairs = kChannels / 2;
  for (int i = static_cast<int>(threadIdx.x); i < kQueryTiles * kTile * kPairs;
       i += static_cast<int>(blockDim.x)) {
    const int row = i / kPairs;  // [0, kQueryTiles * 16)
    const int channel = i % kPairs * 2;
    if (first_query + row >= args.queries) break;
    const float2 pair = joined<kChannels>(partials + row / kTile * kSplits * kTile * kPartialStep<kChannels>,
                                          row % kTile, channel, scale);
    Element* const target =
        static_cast<Element*>(args.output) +
        ((std::int64_t{image} * args.queries + first_query + row) * args.heads + head) * kChannels + channel;
    *reinterpret_cast<unsigned*>(target) = pair_of(pair.x, pair.y, Element{});
  }
}

}  // namespace rangefinder::kernels::attention_mma
