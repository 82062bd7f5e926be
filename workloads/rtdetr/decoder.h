// SPDX-License-Identifier: Apache-2.0
//
// The decoder. Each layer attends among the queries, samples the maps around each query's box, and refines
// the box (section 4.3 of the paper; deformable attention comes from Deformable DETR).
//
//   x += self attention(x + position);  x += deformable attention(x + position, boxes, memory);  x += FFN(x)
//   boxes = sigmoid(box_head(x) + inverse_sigmoid(boxes));  position = query_pos_head(boxes)
#pragma once

#include "workloads/rtdetr/query_selection.h"

namespace rangefinder::rtdetr {

struct Predictions {
  float* logits;  ///< (images, queries, labels)
  float* boxes;   ///< (images, queries, 4): centre x, y, width, height in 0..1
};

/// The same number of zero bytes must precede selection.target: x + position and position are one launch, a
/// batch of two with [zeros | x] as its residual.
/// The boxes are a branch: ready only after Backend::join_branches().
/// Ranges: decoder.query_pos_head, decoder.layers.i.*, decoder.bbox_embed.i, decoder.class_embed.i.
Predictions run_decoder(Execution& execution, const Config& config, const DecoderParameters& parameters,
                        const Geometry& geometry, const Selection& selection);

}  // namespace rangefinder::rtdetr
