// SPDX-License-Identifier: Apache-2.0
//
// Multi-head attention without a mask, after the projections and before the output projection.
//
//   out[b,i,h,:] = sum_j p[b,h,i,j] v[b,j,h,:]
//   p[b,h,i,:]   = softmax_j(scale * q[b,i,h,:] . k[b,j,h,:])
//
// Fused: one pass, no score reaches global memory. All keys and values of a head are in shared memory (400
// keys of 32 halves: 51 KB). If they do not fit, they come in chunks with a running maximum and sum; any
// number of keys works.
// Unfused: scores, softmax and sum are separate kernels with the scores in memory, as in eager PyTorch.
// Softmax is fp32 in both.
//
// q, k and v are rows of a packed projection: head h of row i of image b begins at
// data[b * image_stride + i * row_stride + h * head_channels].
//
// Refuses (cudaErrorInvalidValue): head_channels other than 32 and 48 (R101's encoder); strides that are
// not a multiple of elements_per_load(); no keys; a scale that is not positive.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/element_type.h"

namespace rangefinder::kernels {

struct AttentionOperand {
  const void* data = nullptr;
  std::int64_t row_stride = 0;    ///< elements between rows; not 0
  std::int64_t image_stride = 0;  ///< elements between images; not 0
};

struct AttentionArgs {
  ElementType element = ElementType::fp32;
  int images = 0;
  int heads = 0;
  int head_channels = 32;  ///< 32 or 48
  int queries = 0;         ///< rows of q and out in an image
  int keys = 0;            ///< rows of k and v in an image
  float scale = 0;         ///< 1 / sqrt(head_channels) in RT-DETR
  AttentionOperand query;
  AttentionOperand key;
  AttentionOperand value;
  void* output = nullptr;  ///< (images, queries, heads * head_channels), packed
  /// Unfused only: two buffers of attention_scores_bytes() each, (images, heads, queries, keys).
  void* scores = nullptr;
  void* probabilities = nullptr;
};

std::size_t attention_scores_bytes(const AttentionArgs& args);

cudaError_t launch_attention(const AttentionArgs& args, cudaStream_t stream);
cudaError_t launch_attention_unfused(const AttentionArgs& args, cudaStream_t stream);

/// Host memory, fp32, sums and softmax in double. Ignores scores and probabilities.
void attention_reference(const AttentionArgs& args);

}  // namespace rangefinder::kernels
