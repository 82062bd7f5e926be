// SPDX-License-Identifier: Apache-2.0
//
// Multi-scale deformable attention, after its projections and before the output projection. Per image and
// query:
//
//   w[h,:]   = softmax over the L*P samples of weight_logits[h,:]
//   loc      = reference.xy + offset[h,l,p] / P * reference.wh * 0.5                           0..1
//   sample   = bilinear value of level l, head h, at (loc.x * W_l - 0.5, loc.y * H_l - 0.5); zero outside
//   out[h,:] = sum_{l,p} w[h, l*P + p] * sample[h,l,p,:]
//
// `projected` is one row of a linear layer: offsets first, [((h*L + l)*P + p)*2 + {x, y}], then weight
// logits, [h*L*P + l*P + p]. Values are (images, positions, heads, 32): a sample of a head is 64 adjacent
// bytes in 16-bit types. Locations, weights and sums are fp32.
//
// Unfused: separate kernels with their intermediates in memory, as in eager PyTorch. They copy the values
// to planes, then compute locations, softmax, one bilinear sampling per level, product and sum.
//
// Refuses (cudaErrorInvalidValue): head_channels other than 32, more than kMaxLevels levels, L*P > 16,
// strides of the values that are not a multiple of elements_per_load().
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/element_type.h"

namespace rangefinder::kernels {

inline constexpr int kMaxLevels = 4;

struct FeatureLevel {
  int height = 0;  ///< H_l
  int width = 0;   ///< W_l
  int start = 0;   ///< first position of this level in an image's sequence
};

struct DeformableAttentionArgs {
  ElementType element = ElementType::fp32;  ///< of value, projected and output
  int images = 0;
  int queries = 0;
  int heads = 0;
  int head_channels = 32;
  int levels = 0;  ///< L
  int points = 0;  ///< P
  std::array<FeatureLevel, kMaxLevels> level{};
  const void* value = nullptr;             ///< (images, positions, heads * head_channels)
  std::int64_t value_row_stride = 0;       ///< elements between positions; not 0
  std::int64_t value_image_stride = 0;     ///< elements; not 0
  const void* projected = nullptr;         ///< (images, queries, heads*L*P*3)
  std::int64_t projected_row_stride = 0;   ///< elements between queries; not 0
  const float* reference_boxes = nullptr;  ///< (images, queries, 4): centre x, y, width, height in 0..1
  void* output = nullptr;                  ///< (images, queries, heads * head_channels), packed

  float* sampling_locations = nullptr;  ///< (images, queries, heads, L, P, 2) for dumps, or nullptr
  float* attention_weights = nullptr;   ///< (images, queries, heads, L, P) for dumps, or nullptr
  void* workspace = nullptr;            ///< unfused only: deformable_attention_unfused_bytes()
};

std::size_t deformable_attention_unfused_bytes(const DeformableAttentionArgs& args);

cudaError_t launch_deformable_attention(const DeformableAttentionArgs& args, cudaStream_t stream);
cudaError_t launch_deformable_attention_unfused(const DeformableAttentionArgs& args, cudaStream_t stream);

/// Host memory, fp32, all in double; writes the dumps that are requested.
void deformable_attention_reference(const DeformableAttentionArgs& args);

}  // namespace rangefinder::kernels
