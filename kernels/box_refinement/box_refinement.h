// SPDX-License-Identifier: Apache-2.0
//
// Boxes of the queries: the first from anchors, the next from the previous ones. All in fp32.
//
//   with anchors:     u = delta + anchors[indices[b,q]]            (anchors are logits; invalid: FLT_MAX)
//   without anchors:  u = delta + inverse_sigmoid(previous)
//   boxes = sigmoid(u)
//   inverse_sigmoid(x) = log(max(x, 1e-5) / max(1 - x, 1e-5)), x clamped to [0, 1]
//   query_input[b,q,:] = (boxes in the element type, 0, 0, 0, 0)   input of query_pos_head, K padded to 8
//
// Refuses (cudaErrorInvalidValue): neither or both of anchors and previous; anchors without indices.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/element_type.h"

namespace rangefinder::kernels {

inline constexpr int kQueryInputColumns = 8;

struct BoxRefinementArgs {
  ElementType element = ElementType::fp32;  ///< of query_input
  int images = 0;
  int queries = 0;
  const float* delta = nullptr;           ///< (images, queries, 4)
  const float* previous = nullptr;        ///< (images, queries, 4) in 0..1, or nullptr
  const float* anchors = nullptr;         ///< (anchor_rows, 4), shared by the images, or nullptr
  int anchor_rows = 0;                    ///< an index outside [0, anchor_rows) gives NaN
  const std::int32_t* indices = nullptr;  ///< (images, queries), with anchors
  float* boxes = nullptr;                 ///< (images, queries, 4) in 0..1; may equal `previous`
  float* logits = nullptr;                ///< (images, queries, 4): u, for dumps, or nullptr
  void* query_input = nullptr;            ///< (images, queries, 8), or nullptr after the last layer
};

cudaError_t launch_box_refinement(const BoxRefinementArgs& args, cudaStream_t stream);
void box_refinement_reference(const BoxRefinementArgs& args);  ///< host memory, fp32, in double

}  // namespace rangefinder::kernels
