// SPDX-License-Identifier: Apache-2.0
#include "kernels/deformable_attention/deformable_attention.h"

#include "kernels/deformable_attention/deformable_attention_arguments.h"
#include "kernels/deformable_attention/sampling.cuh"
#include "kernels/dependent_launch.cuh"
#include "kernels/packed_elements.cuh"
#include "kernels/warp_reduce.cuh"

namespace rangefinder::kernels {
namespace {

constexpr int kThreads = 128;
constexpr int kGroups = 4;  // lane groups that share the samples of a query and head
constexpr int kMaxOwned = kMaxSamples / kGroups;

template <typename Element>
constexpr int kChannelLanes = kSampledHeadChannels / Packed<Element>::kCount;
template <typename Element>
constexpr int kLanes = kGroups* kChannelLanes<Element>;  // 16, or 32 in fp32

// Multi-scale deformable attention: locations, softmax, bilinear samples and their sum in one pass.
//
//   w[h,:]   = softmax(logits[h,:])        loc = reference.xy + offset / P * reference.wh * 0.5
//   out[h,:] = sum_{l,p} w[h,l,p] * bilinear(value of level l and head h, loc * (W_l, H_l) - 0.5)
//
// Shapes   value: (B, positions, H * 32); projected: (B, Q, H*L*P*3); reference: (B, Q, 4);
//          out: (B, Q, H * 32)
// Tiling   a lane owns 16 bytes of channels: 4 lanes hold the 32 halves of a sample, a 64-byte piece of a
//          cache line. Four such groups share the samples of a query and head (sample s belongs to group
//          s % 4). So a lane has at most 4 samples of 4 taps, and two shuffles a channel combine the groups.
// Bytes    300 queries: 115 200 taps of 64 bytes = 7.4 MB of sectors, at most 4.3 MB of them different:
//          bound by L2 latency at batch 1
// Numerics fp32 locations, weights and sums; taps outside have weight 0 (zero padding); the order of the
//          sums is fixed
// Checked  tests/kernels/deformable_attention_check.cpp: 5e-5 + one rounding of the type.
template <typename Element>
__global__ void __launch_bounds__(kThreads)
    deformable_attention_kernel(DeformableAttentionArgs args, int items) {
  wait_for_predecessor();
  constexpr int kCount = Packed<Element>::kCount;
  const int thread = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  const bool is_item = thread / kLanes<Element> < items;
  const int item = min(thread / kLanes<Element>, items - 1);  // no lane exits: the shuffles need all
  const int head = item % args.heads;
  const int query = item / args.heads;  // [0, B * Q)
  const int lane = thread % kLanes<Element>;
  const int group = lane / kChannelLanes<Element>;
  const int channel = lane % kChannelLanes<Element> * kCount;  // [0, 32)
  const int samples = args.levels * args.points;

  const Element* const row = static_cast<const Element*>(args.projected) + query * args.projected_row_stride;
  const Element* const logits = row + args.heads * samples * 2 + head * samples;
  const float4 box = reinterpret_cast<const float4*>(args.reference_boxes)[query];
  const float infinity = __int_as_float(0x7F800000);
  float weight[kMaxOwned];
  float2 location[kMaxOwned];
  float greatest = -infinity;
#pragma unroll
  for (int i = 0; i < kMaxOwned; ++i) {
    const int sample = i * kGroups + group;
    weight[i] = -infinity;
    if (sample >= samples) continue;
    const Element* const offset = row + (head * samples + sample) * 2;
    weight[i] = as_float(logits[sample]);
    location[i] = location_of(as_float(offset[0]), as_float(offset[1]), box, args.points);
    greatest = nan_or_maximum(greatest, weight[i]);
  }

  greatest = group_nan_or_maximum<kChannelLanes<Element>, kLanes<Element>>(greatest);
  float total = 0;
#pragma unroll
  for (int i = 0; i < kMaxOwned; ++i) {
    weight[i] = i * kGroups + group < samples ? expf(weight[i] - greatest) : 0.0f;
    total += weight[i];
  }
  const float share = 1.0f / group_sum<kChannelLanes<Element>, kLanes<Element>>(total);

  const Element* const values = static_cast<const Element*>(args.value) +
                                query / args.queries * args.value_image_stride + head * kSampledHeadChannels +
                                channel;
  float sum[kCount] = {};
#pragma unroll
  for (int i = 0; i < kMaxOwned; ++i) {
    const int sample = i * kGroups + group;
    if (sample >= samples) continue;
    const FeatureLevel level = args.level[args.points == kGroups ? i : sample / args.points];
    const Taps taps = taps_of(location[i], level.height, level.width);
    weight[i] *= share;
    Packed<Element> tap_values[4];
#pragma unroll
    for (int tap = 0; tap < 4; ++tap) {
      tap_values[tap] = Packed<Element>{};
      if (taps.weight[tap] != 0.0f)
        tap_values[tap] = load_packed(values + (level.start + taps.position[tap]) * args.value_row_stride);
    }
#pragma unroll
    for (int tap = 0; tap < 4; ++tap)
#pragma unroll
      for (int c = 0; c < kCount; ++c)
        sum[c] = fmaf(weight[i] * taps.weight[tap], as_float(tap_values[tap].element[c]), sum[c]);
    if (is_item && channel == 0) {
      const std::int64_t at = std::int64_t{item} * samples + sample;
      if (args.sampling_locations != nullptr)
        reinterpret_cast<float2*>(args.sampling_locations)[at] = location[i];
      if (args.attention_weights != nullptr) args.attention_weights[at] = weight[i];
    }
  }
  Packed<Element> packed;
#pragma unroll
  for (int c = 0; c < kCount; ++c)
    packed.element[c] = rounded<Element>(group_sum<kChannelLanes<Element>, kLanes<Element>>(sum[c]));
  if (is_item && group == 0)
    store_packed(static_cast<Element*>(args.output) + std::int64_t{item} * kSampledHeadChannels + channel,
                 packed);
}

}  // namespace

cudaError_t launch_deformable_attention(const DeformableAttentionArgs& args, cudaStream_t stream) {
  if (refusal(args) != nullptr || !is_aligned(args.value, 16) || !is_aligned(args.reference_boxes, 16) ||
      !is_aligned(args.output, 16) || !is_aligned(args.sampling_locations, 8))
    return cudaErrorInvalidValue;
  const std::int64_t items = std::int64_t{args.images} * args.queries * args.heads;
  return with_stored_type(args.element, [&](auto stored) {
    using Element = typename decltype(stored)::Type;
    unsigned blocks = 0;
    if (!blocks_for(items * kLanes<Element>, kThreads, blocks)) return cudaErrorInvalidValue;
    if (blocks == 0) return cudaSuccess;
    return launch_dependent(deformable_attention_kernel<Element>, blocks, kThreads, 0, stream, args,
                            static_cast<int>(items));
  });
}

}  // namespace rangefinder::kernels
