// SPDX-License-Identifier: Apache-2.0
//
// One layer of the decoder, in place on the queries: self-attention, deformable attention, feed-forward,
// each with its residual and norm. Boxes are not touched here (decoder.cpp refines them).
#pragma once

#include "workloads/rtdetr/query_selection.h"

namespace rangefinder::rtdetr {

/// Of the boxes, in the model's channels: (images, 1, queries, channels) both.
struct QueryPosition {
  Tensor position;
  Tensor with_queries;  ///< x + position
};

/// Updates selection.target; writes over position.with_queries. The values' projection reads the memory
/// alone: it is a branch from values.free_since on, which is moved behind this layer's sampling. `number` is
/// for names only.
void run_decoder_layer(Execution& execution, const Config& config, const DecoderLayerParameters& parameters,
                       const Geometry& geometry, const Selection& selection, const QueryPosition& position,
                       ValueSlot& values, int number);

}  // namespace rangefinder::rtdetr
