// SPDX-License-Identifier: Apache-2.0
//
// Attention as eager PyTorch does it: products, scaling, softmax and weighted sum are separate kernels, with
// the scores of all heads in memory between them. The baseline for the fused kernel.
#include "kernels/attention/attention.h"
#include "kernels/attention/attention_arguments.h"
#include "kernels/dependent_launch.cuh"
#include "kernels/packed_elements.cuh"
#include "kernels/warp_reduce.cuh"

namespace rangefinder::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kTile = 64;     // queries, and keys, per block of products
constexpr int kPart = 4;      // queries, and keys, per thread
constexpr int kSumKeys = 32;  // keys in shared memory of a block of sums

template <typename Element>
__device__ __forceinline__ const Element* head_of(const AttentionOperand& operand, const AttentionArgs& args,
                                                  int image, int head) {
  return static_cast<const Element*>(operand.data) + image * operand.image_stride + head * args.head_channels;
}

/// Rows [first, first + 64) as fp32, channel-major; rows outside are zero.
template <typename Element, int kChannels>
__device__ __forceinline__ void load_tile(float (*tile)[kTile + 4], const Element* head,
                                          std::int64_t row_stride, int first, int rows) {
  for (int i = static_cast<int>(threadIdx.x); i < kTile * kChannels; i += kThreads) {
    const int row = i / kChannels;
    tile[i % kChannels][row] =
        first + row < rows ? as_float(head[(first + row) * row_stride + i % kChannels]) : 0.0f;
  }
}

// scores[b,h,i,j] = q[b,i,h,:] . k[b,j,h,:]
//
// Shapes   q, k: (B, rows, H * D); scores: (B, H, Q, K) in the element type
// Tiling   a block owns 64 x 64 scores, a thread 4 x 4 of them
// Bytes    writes 2.56 MB at batch 1, S = 400, 8 heads, in fp16
// Numerics fp32 sums, rounded to the type
// Checked  tests/kernels/attention_check.cpp, all four kernels together
template <typename Element, int kChannels>
__global__ void __launch_bounds__(kThreads) attention_scores_kernel(AttentionArgs args) {
  wait_for_predecessor();
  __shared__ __align__(16) float queries[kChannels][kTile + 4];
  __shared__ __align__(16) float keys[kChannels][kTile + 4];
  const int head = static_cast<int>(blockIdx.z) % args.heads;
  const int image = static_cast<int>(blockIdx.z) / args.heads;
  const int first_key = static_cast<int>(blockIdx.x) * kTile;
  const int first_query = static_cast<int>(blockIdx.y) * kTile;
  load_tile<Element, kChannels>(queries, head_of<Element>(args.query, args, image, head),
                                args.query.row_stride, first_query, args.queries);
  load_tile<Element, kChannels>(keys, head_of<Element>(args.key, args, image, head), args.key.row_stride,
                                first_key, args.keys);
  __syncthreads();
  const int column = static_cast<int>(threadIdx.x) % 16;
  const int row = static_cast<int>(threadIdx.x) / 16 * kPart;
  float sum[kPart][kPart] = {};
#pragma unroll 8
  for (int c = 0; c < kChannels; ++c)
#pragma unroll
    for (int i = 0; i < kPart; ++i)
#pragma unroll
      for (int j = 0; j < kPart; ++j)
        sum[i][j] = fmaf(queries[c][row + i], keys[c][column + 16 * j], sum[i][j]);
#pragma unroll
  for (int i = 0; i < kPart; ++i)
#pragma unroll
    for (int j = 0; j < kPart; ++j) {
      const int query = first_query + row + i;
      const int key = first_key + column + 16 * j;
      if (query < args.queries && key < args.keys)
        static_cast<Element*>(
            args.scores)[(std::int64_t{blockIdx.z} * args.queries + query) * args.keys + key] =
            rounded<Element>(sum[i][j]);
    }
}

// scores *= scale, in place: a separate pass, as in eager PyTorch.
template <typename Element>
__global__ void __launch_bounds__(kThreads)
    attention_scale_kernel(Element* scores, float scale, std::int64_t count) {
  wait_for_predecessor();
  const std::int64_t at = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;  // [0, count)
  if (at < count) scores[at] = rounded<Element>(as_float(scores[at]) * scale);
}

// probabilities[r,:] = softmax(scores[r,:])
//
// Shapes   both (R, K), R = images * heads * queries
// Tiling   a warp owns a row and reads it three times, twice from L1
// Numerics fp32
template <typename Element>
__global__ void __launch_bounds__(kThreads)
    attention_softmax_kernel(const Element* scores, Element* probabilities, int columns, std::int64_t rows) {
  wait_for_predecessor();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t row = std::int64_t{blockIdx.x} * (kThreads / 32) + threadIdx.x / 32;  // [0, R)
  if (row >= rows) return;                                                                 // no warp is split
  const Element* const source = scores + row * columns;
  float greatest = __int_as_float(0xFF800000);
  for (int i = lane; i < columns; i += 32) greatest = fmaxf(greatest, as_float(source[i]));
  greatest = warp_maximum(greatest);
  float total = 0;
  for (int i = lane; i < columns; i += 32) total += expf(as_float(source[i]) - greatest);
  total = warp_sum(total);
  for (int i = lane; i < columns; i += 32)
    probabilities[row * columns + i] = rounded<Element>(expf(as_float(source[i]) - greatest) / total);
}

// out[b,i,h,:] = sum_j probabilities[b,h,i,j] v[b,j,h,:]
//
// Shapes   probabilities: (B, H, Q, K); v: (B, K, H * D); out: (B, Q, H * D)
// Tiling   a block owns 64 queries of a head and loops over the keys, 32 at a time; a thread owns 4 queries
//          by D / 16 channels
// Numerics fp32 sums in the order of the keys
template <typename Element, int kChannels>
__global__ void __launch_bounds__(kThreads) attention_sum_kernel(AttentionArgs args) {
  wait_for_predecessor();
  __shared__ float weights[kSumKeys][kTile + 1];
  __shared__ float values[kSumKeys][kChannels];
  constexpr int kOwned = kChannels / 16;
  const int head = static_cast<int>(blockIdx.z) % args.heads;
  const int image = static_cast<int>(blockIdx.z) / args.heads;
  const int first_query = static_cast<int>(blockIdx.x) * kTile;
  const Element* const probabilities =
      static_cast<const Element*>(args.probabilities) + std::int64_t{blockIdx.z} * args.queries * args.keys;
  const Element* const value_head = head_of<Element>(args.value, args, image, head);
  const int column = static_cast<int>(threadIdx.x) % 16;
  const int row = static_cast<int>(threadIdx.x) / 16 * kPart;
  float sum[kPart][kOwned] = {};
  for (int start = 0; start < args.keys; start += kSumKeys) {
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < kTile * kSumKeys; i += kThreads) {
      const int query = first_query + i / kSumKeys;
      const int key = start + i % kSumKeys;
      weights[i % kSumKeys][i / kSumKeys] =
          query < args.queries && key < args.keys
              ? as_float(probabilities[std::int64_t{query} * args.keys + key])
              : 0.0f;
    }
    for (int i = static_cast<int>(threadIdx.x); i < kSumKeys * kChannels; i += kThreads) {
      const int key = start + i / kChannels;
      values[i / kChannels][i % kChannels] =
          key < args.keys ? as_float(value_head[key * args.value.row_stride + i % kChannels]) : 0.0f;
    }
    __syncthreads();
#pragma unroll 8
    for (int key = 0; key < kSumKeys; ++key)
#pragma unroll
      for (int i = 0; i < kPart; ++i)
#pragma unroll
        for (int c = 0; c < kOwned; ++c)
          sum[i][c] = fmaf(weights[key][row + i], values[key][column + 16 * c], sum[i][c]);
  }
#pragma unroll
  for (int i = 0; i < kPart; ++i) {
    const int query = first_query + row + i;
    if (query >= args.queries) break;
    Element* const target = static_cast<Element*>(args.output) +
                            ((std::int64_t{image} * args.queries + query) * args.heads + head) * kChannels +
                            column;
#pragma unroll
    for (int c = 0; c < kOwned; ++c) target[16 * c] = rounded<Element>(sum[i][c]);
  }
}

template <typename Element, int kChannels>
cudaError_t launch_kernels(const AttentionArgs& args, cudaStream_t stream) {
  const auto tiles = [](int rows) { return static_cast<unsigned>((rows + kTile - 1) / kTile); };
  const unsigned heads = static_cast<unsigned>(args.images * args.heads);
  const std::int64_t rows = std::int64_t{args.images} * args.heads * args.queries;
  constexpr int kRows = kThreads / 32;
  auto* const scores = static_cast<Element*>(args.scores);
  auto* const probabilities = static_cast<Element*>(args.probabilities);
  launch_dependent(attention_scores_kernel<Element, kChannels>,
                   dim3(tiles(args.keys), tiles(args.queries), heads), kThreads, 0, stream, args);
  launch_dependent(attention_scale_kernel<Element>,
                   static_cast<unsigned>((rows * args.keys + kThreads - 1) / kThreads), kThreads, 0, stream,
                   scores, args.scale, rows * args.keys);
  launch_dependent(attention_softmax_kernel<Element>, static_cast<unsigned>((rows + kRows - 1) / kRows),
                   kThreads, 0, stream, scores, probabilities, args.keys, rows);
  launch_dependent(attention_sum_kernel<Element, kChannels>, dim3(tiles(args.queries), 1, heads), kThreads, 0,
                   stream, args);
  return cudaGetLastError();  // from any of the four
}

}  // namespace

std::size_t attention_scores_bytes(const AttentionArgs& args) {
  return static_cast<std::size_t>(args.images) * static_cast<std::size_t>(args.heads) *
         static_cast<std::size_t>(args.queries) * static_cast<std::size_t>(args.keys) *
         element_bytes(args.element);
}

cudaError_t launch_attention_unfused(const AttentionArgs& args, cudaStream_t stream) {
  constexpr int kMaxInGridZ = 65535;
  if (refusal(args) != nullptr || args.scores == nullptr || args.probabilities == nullptr ||
      std::int64_t{args.images} * args.heads > kMaxInGridZ)
    return cudaErrorInvalidValue;
  if (args.images == 0 || args.queries == 0) return cudaSuccess;
  return with_stored_type(args.element, [&](auto stored) {
    using Element = typename decltype(stored)::Type;
    return args.head_channels == kHeadChannelsOfMost
               ? launch_kernels<Element, kHeadChannelsOfMost>(args, stream)
               : launch_kernels<Element, kHeadChannelsOfR101>(args, stream);
  });
}

}  // namespace rangefinder::kernels
