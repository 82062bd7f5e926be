// SPDX-License-Identifier: Apache-2.0
#include "kernels/box_refinement/box_refinement.h"
#include "kernels/box_refinement/box_refinement_arguments.h"
#include "kernels/dependent_launch.cuh"
#include "kernels/packed_elements.cuh"

namespace rangefinder::kernels {
namespace {

constexpr int kThreads = 64;
constexpr float kSmallest = 1e-5f;

/// Propagates NaN: the comparisons keep it.
__device__ __forceinline__ float inverse_sigmoid(float x) {
  if (x != x) return x;
  const float clamped = fminf(fmaxf(x, 0.0f), 1.0f);
  return logf(fmaxf(clamped, kSmallest) / fmaxf(1.0f - clamped, kSmallest));
}

__device__ __forceinline__ float sigmoid(float logit) {
  return 1.0f / (1.0f + expf(-logit));
}

__device__ __forceinline__ float4 start_of(const BoxRefinementArgs& args, int query) {
  if (args.previous != nullptr) {
    const float4 box = reinterpret_cast<const float4*>(args.previous)[query];
    return make_float4(inverse_sigmoid(box.x), inverse_sigmoid(box.y), inverse_sigmoid(box.z),
                       inverse_sigmoid(box.w));
  }
  const int index = args.indices[query];
  const float nan = __int_as_float(0x7FFFFFFF);
  if (index < 0 || index >= args.anchor_rows) return make_float4(nan, nan, nan, nan);
  return reinterpret_cast<const float4*>(args.anchors)[index];
}

// Boxes of the queries, and the input of the position head.
//
//   boxes[q,:] = sigmoid(delta[q,:] + anchors[indices[q],:])  or  sigmoid(delta + inverse_sigmoid(previous))
//   query_input[q,:] = (boxes[q,:] in the element type, 0, 0, 0, 0)
//
// Shapes   delta, previous, boxes, logits: (Q, 4) fp32, Q = images * queries; query_input: (Q, 8)
// Tiling   a thread owns a query: every access is 16 bytes
// Bytes    64 a query, 19 KB at 300 queries: bound by launch latency
// Numerics fp32; expf and logf, not their fast versions, because boxes are in pixels of large photographs
// Checked  tests/kernels/box_refinement_check.cpp: boxes 1e-6 absolute, logits 1e-5 + 1e-6 relative.
template <typename Element>
__global__ void __launch_bounds__(kThreads) box_refinement_kernel(BoxRefinementArgs args, int count) {
  wait_for_predecessor();
  const int query = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);  // [0, count)
  if (query >= count) return;
  const float4 delta = reinterpret_cast<const float4*>(args.delta)[query];
  const float4 start = start_of(args, query);
  const float4 logit =
      make_float4(delta.x + start.x, delta.y + start.y, delta.z + start.z, delta.w + start.w);
  const float box[4] = {sigmoid(logit.x), sigmoid(logit.y), sigmoid(logit.z), sigmoid(logit.w)};
  if (args.logits != nullptr) reinterpret_cast<float4*>(args.logits)[query] = logit;
  reinterpret_cast<float4*>(args.boxes)[query] = make_float4(box[0], box[1], box[2], box[3]);
  if (args.query_input == nullptr) return;

  Element* const row = static_cast<Element*>(args.query_input) + std::int64_t{query} * kQueryInputColumns;
  constexpr int kCount = Packed<Element>::kCount;
#pragma unroll
  for (int column = 0; column < kQueryInputColumns; column += kCount) {
    Packed<Element> packed;
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      packed.element[i] = rounded<Element>(column + i < 4 ? box[(column + i) % 4] : 0.0f);
    store_packed(row + column, packed);
  }
}

bool is_misaligned(const BoxRefinementArgs& args) {
  return !is_aligned(args.delta, 16) || !is_aligned(args.previous, 16) || !is_aligned(args.anchors, 16) ||
         !is_aligned(args.boxes, 16) || !is_aligned(args.logits, 16) || !is_aligned(args.query_input, 16);
}

}  // namespace

cudaError_t launch_box_refinement(const BoxRefinementArgs& args, cudaStream_t stream) {
  unsigned blocks = 0;
  const std::int64_t count = std::int64_t{args.images} * args.queries;
  if (refusal(args) != nullptr || is_misaligned(args) || !blocks_for(count, kThreads, blocks))
    return cudaErrorInvalidValue;
  if (blocks == 0) return cudaSuccess;
  return with_stored_type(args.element, [&](auto stored) {
    return launch_dependent(box_refinement_kernel<typename decltype(stored)::Type>, blocks, kThreads, 0,
                            stream, args, static_cast<int>(count));
  });
}

}  // namespace rangefinder::kernels
