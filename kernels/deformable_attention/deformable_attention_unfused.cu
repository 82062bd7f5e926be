// SPDX-License-Identifier: Apache-2.0
//
// Deformable attention as eager PyTorch does it: planes of the values, locations, softmax, one grid_sample
// per level, product and sum. Each is a kernel with its result in memory. The baseline for the fused kernel.
//
//   workspace   planes     (B * H, 32, sum of H_l * W_l)   element type, level by level
//               sampled    (B * H, 32, Q, L * P)           element type
//               weighted   (B * H, 32, Q, L * P)           element type
//               locations  (B, Q, H, L * P, 2)             fp32
//               weights    (B, Q, H, L * P)                fp32
#include "kernels/deformable_attention/deformable_attention.h"
#include "kernels/deformable_attention/deformable_attention_arguments.h"
#include "kernels/deformable_attention/sampling.cuh"
#include "kernels/dependent_launch.cuh"
#include "kernels/packed_elements.cuh"

namespace rangefinder::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kChannels = kSampledHeadChannels;
constexpr std::size_t kAlignment = 256;

struct Intermediates {
  char* planes;
  char* sampled;
  char* weighted;
  float* locations;
  float* weights;
  std::size_t bytes;
};

std::size_t padded(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::int64_t level_positions(const DeformableAttentionArgs& args) {
  std::int64_t positions = 0;
  for (int l = 0; l < args.levels; ++l)
    positions += std::int64_t{args.level[static_cast<std::size_t>(l)].height} *
                 args.level[static_cast<std::size_t>(l)].width;
  return positions;
}

Intermediates intermediates_of(const DeformableAttentionArgs& args) {
  const auto heads = static_cast<std::size_t>(args.images) * static_cast<std::size_t>(args.heads);
  const auto samples =
      heads * static_cast<std::size_t>(args.queries) * static_cast<std::size_t>(args.levels * args.points);
  const std::size_t width = element_bytes(args.element);
  const std::size_t plane_bytes =
      padded(heads * kChannels * static_cast<std::size_t>(level_positions(args)) * width);
  const std::size_t sample_bytes = padded(samples * kChannels * width);
  Intermediates at{};
  at.planes = static_cast<char*>(args.workspace);
  at.sampled = at.planes + plane_bytes;
  at.weighted = at.sampled + sample_bytes;
  at.locations = reinterpret_cast<float*>(at.weighted + sample_bytes);
  const std::size_t location_bytes = padded(samples * 2 * sizeof(float));
  at.weights = reinterpret_cast<float*>(at.weighted + sample_bytes + location_bytes);
  at.bytes = plane_bytes + 2 * sample_bytes + location_bytes + padded(samples * sizeof(float));
  return at;
}

// planes[b*H + h, c, p] = value[b, start + p, h, c] of one level.
// Tiling   a block transposes 32 positions by 32 channels in shared memory
template <typename Element>
__global__ void __launch_bounds__(kThreads)
    deformable_planes_kernel(DeformableAttentionArgs args, FeatureLevel level, Element* planes) {
  wait_for_predecessor();
  __shared__ Element tile[32][kChannels + 2];
  const int positions = level.height * level.width;
  const int first = static_cast<int>(blockIdx.x) * 32;
  const int image = static_cast<int>(blockIdx.y) / args.heads;
  const int head = static_cast<int>(blockIdx.y) % args.heads;
  const int column = static_cast<int>(threadIdx.x) % 32;
  const Element* const values = static_cast<const Element*>(args.value) + image * args.value_image_stride +
                                level.start * args.value_row_stride + head * kChannels;
  for (int i = static_cast<int>(threadIdx.x) / 32; i < 32; i += kThreads / 32)
    if (first + i < positions) tile[i][column] = values[(first + i) * args.value_row_stride + column];
  __syncthreads();
  for (int c = static_cast<int>(threadIdx.x) / 32; c < kChannels; c += kThreads / 32)
    if (first + column < positions)
      planes[(std::int64_t{blockIdx.y} * kChannels + c) * positions + first + column] = tile[column][c];
}

// locations[q,h,s,:] = reference.xy + offset / P * reference.wh * 0.5; one thread per sample.
template <typename Element>
__global__ void __launch_bounds__(kThreads)
    deformable_locations_kernel(DeformableAttentionArgs args, float2* locations, int count) {
  wait_for_predecessor();
  const int at = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);  // [0, count)
  if (at >= count) return;
  const int in_query = args.heads * args.levels * args.points;
  const int query = at / in_query;
  const Element* const offset =
      static_cast<const Element*>(args.projected) + query * args.projected_row_stride + at % in_query * 2;
  locations[at] = location_of(as_float(offset[0]), as_float(offset[1]),
                              reinterpret_cast<const float4*>(args.reference_boxes)[query], args.points);
}

// weights[q,h,:] = softmax(logits[q,h,:]); one thread per head of a query.
template <typename Element>
__global__ void __launch_bounds__(kThreads)
    deformable_softmax_kernel(DeformableAttentionArgs args, float* weights, int count) {
  wait_for_predecessor();
  const int at = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);  // [0, count)
  if (at >= count) return;
  const int samples = args.levels * args.points;
  const Element* const logits = static_cast<const Element*>(args.projected) +
                                at / args.heads * args.projected_row_stride + args.heads * samples * 2 +
                                at % args.heads * samples;
  float greatest = __int_as_float(0xFF800000);
  for (int s = 0; s < samples; ++s) greatest = nan_or_maximum(greatest, as_float(logits[s]));
  float total = 0;
  for (int s = 0; s < samples; ++s) total += expf(as_float(logits[s]) - greatest);
  for (int s = 0; s < samples; ++s)
    weights[std::int64_t{at} * samples + s] = expf(as_float(logits[s]) - greatest) / total;
}

// sampled[b*H + h, c, q, l*P + p] of one level. One thread per sample, looping over the channels, as in
// PyTorch. Expensive, because each tap reads two bytes of a plane.
template <typename Element>
__global__ void __launch_bounds__(kThreads)
    deformable_sample_kernel(DeformableAttentionArgs args, int level_index, const Element* planes,
                             const float2* locations, Element* sampled, int count) {
  wait_for_predecessor();
  const int at = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);  // [0, count): (b*H + h, q, p)
  if (at >= count) return;
  const FeatureLevel level = args.level[level_index];
  const int positions = level.height * level.width;
  const int samples = args.levels * args.points;
  const int point = at % args.points;
  const int query = at / args.points % args.queries;
  const int plane = at / args.points / args.queries;  // [0, B * H)
  const int sample = level_index * args.points + point;
  const std::int64_t row =
      (std::int64_t{plane / args.heads} * args.queries + query) * args.heads + plane % args.heads;
  const Taps taps = taps_of(locations[row * samples + sample], level.height, level.width);
  for (int c = 0; c < kChannels; ++c) {
    const Element* const values = planes + (std::int64_t{plane} * kChannels + c) * positions;
    float sum = 0;
#pragma unroll
    for (int tap = 0; tap < 4; ++tap)
      if (taps.weight[tap] != 0.0f) sum = fmaf(taps.weight[tap], as_float(values[taps.position[tap]]), sum);
    sampled[((std::int64_t{plane} * kChannels + c) * args.queries + query) * samples + sample] =
        rounded<Element>(sum);
  }
}

// weighted = sampled * weights, the weights broadcast over the channels; one thread per element.
template <typename Element>
__global__ void __launch_bounds__(kThreads)
    deformable_product_kernel(DeformableAttentionArgs args, const Element* sampled, const float* weights,
                              Element* weighted, std::int64_t count) {
  wait_for_predecessor();
  const std::int64_t at = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;  // [0, count)
  if (at >= count) return;
  const int samples = args.levels * args.points;
  const int sample = static_cast<int>(at % samples);
  const int query = static_cast<int>(at / samples % args.queries);
  const int plane = static_cast<int>(at / samples / args.queries / kChannels);
  const std::int64_t row =
      (std::int64_t{plane / args.heads} * args.queries + query) * args.heads + plane % args.heads;
  weighted[at] = rounded<Element>(as_float(sampled[at]) * weights[row * samples + sample]);
}

// out[b,q,h,c] = sum_s weighted[b*H + h, c, q, s]; one thread per channel of a query.
template <typename Element>
__global__ void __launch_bounds__(kThreads)
    deformable_sum_kernel(DeformableAttentionArgs args, const Element* weighted, int count) {
  wait_for_predecessor();
  const int at = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);  // [0, count): (b, h, c, q)
  if (at >= count) return;
  const int samples = args.levels * args.points;
  const int query = at % args.queries;
  const int channel = at / args.queries % (args.heads * kChannels);
  const int image = at / args.queries / (args.heads * kChannels);
  float sum = 0;
  for (int s = 0; s < samples; ++s) sum += as_float(weighted[std::int64_t{at} * samples + s]);
  static_cast<Element*>(
      args.output)[(std::int64_t{image} * args.queries + query) * args.heads * kChannels + channel] =
      rounded<Element>(sum);
}

/// Number of blocks of kThreads; the launcher has checked the counts.
unsigned blocks_of(std::int64_t count) {
  return static_cast<unsigned>((count + kThreads - 1) / kThreads);
}

template <typename Element>
void launch_levels(const DeformableAttentionArgs& args, const Intermediates& workspace, cudaStream_t stream) {
  const int heads = args.images * args.heads;
  const int samples = heads * args.queries * args.points;
  auto* planes = reinterpret_cast<Element*>(workspace.planes);
  for (int l = 0; l < args.levels; ++l) {
    const FeatureLevel& level = args.level[static_cast<std::size_t>(l)];
    const int positions = level.height * level.width;
    const dim3 grid(static_cast<unsigned>((positions + 31) / 32), static_cast<unsigned>(heads));
    launch_dependent(deformable_planes_kernel<Element>, grid, kThreads, 0, stream, args, level, planes);
    launch_dependent(deformable_sample_kernel<Element>, blocks_of(samples), kThreads, 0, stream, args, l,
                     static_cast<const Element*>(planes),
                     reinterpret_cast<const float2*>(workspace.locations),
                     reinterpret_cast<Element*>(workspace.sampled), samples);
    planes += std::int64_t{heads} * kChannels * positions;
  }
}

template <typename Element>
cudaError_t launch_kernels(const DeformableAttentionArgs& args, cudaStream_t stream) {
  const Intermediates workspace = intermediates_of(args);
  const int rows = args.images * args.queries * args.heads;
  const int samples = rows * args.levels * args.points;
  launch_dependent(deformable_locations_kernel<Element>, blocks_of(samples), kThreads, 0, stream, args,
                   reinterpret_cast<float2*>(workspace.locations), samples);
  launch_dependent(deformable_softmax_kernel<Element>, blocks_of(rows), kThreads, 0, stream, args,
                   workspace.weights, rows);
  launch_levels<Element>(args, workspace, stream);
  const std::int64_t products = std::int64_t{samples} * kChannels;
  const auto* const sampled = reinterpret_cast<const Element*>(workspace.sampled);
  auto* const weighted = reinterpret_cast<Element*>(workspace.weighted);
  launch_dependent(deformable_product_kernel<Element>, blocks_of(products), kThreads, 0, stream, args,
                   sampled, workspace.weights, weighted, products);
  launch_dependent(deformable_sum_kernel<Element>, blocks_of(std::int64_t{rows} * kChannels), kThreads, 0,
                   stream, args, static_cast<const Element*>(weighted), rows * kChannels);
  return cudaGetLastError();  // from any of them
}

/// Fills the dumps, if there are any. Device-to-device copies: allowed during stream capture.
cudaError_t copy_dumps(const DeformableAttentionArgs& args, cudaStream_t stream) {
  const Intermediates workspace = intermediates_of(args);
  const std::size_t samples = static_cast<std::size_t>(args.images) * static_cast<std::size_t>(args.queries) *
                              static_cast<std::size_t>(args.heads) *
                              static_cast<std::size_t>(args.levels * args.points);
  cudaError_t status = cudaSuccess;
  if (args.sampling_locations != nullptr)
    status = cudaMemcpyAsync(args.sampling_locations, workspace.locations, samples * 2 * sizeof(float),
                             cudaMemcpyDeviceToDevice, stream);
  if (status == cudaSuccess && args.attention_weights != nullptr)
    status = cudaMemcpyAsync(args.attention_weights, workspace.weights, samples * sizeof(float),
                             cudaMemcpyDeviceToDevice, stream);
  return status;
}

}  // namespace

std::size_t deformable_attention_unfused_bytes(const DeformableAttentionArgs& args) {
  return intermediates_of(args).bytes;
}

cudaError_t launch_deformable_attention_unfused(const DeformableAttentionArgs& args, cudaStream_t stream) {
  constexpr std::int64_t kMaxInGridY = 65535;
  const std::int64_t rows = std::int64_t{args.images} * args.queries * args.heads;
  if (refusal(args) != nullptr || args.workspace == nullptr || !is_aligned(args.workspace, kAlignment) ||
      !is_aligned(args.reference_boxes, 16) || std::int64_t{args.images} * args.heads > kMaxInGridY ||
      rows * kMaxSamples * 2 > 0x7FFFFFFF)
    return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  const cudaError_t status = with_stored_type(args.element, [&](auto stored) {
    return launch_kernels<typename decltype(stored)::Type>(args, stream);
  });
  return status == cudaSuccess ? copy_dumps(args, stream) : status;
}

}  // namespace rangefinder::kernels
