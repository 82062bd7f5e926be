// SPDX-License-Identifier: Apache-2.0
//
// One layer of the decoder, in place on the queries: self-attention, deformable attention, feed-forward,
// each with its residual and norm. Does not refine boxes (decoder.cpp does).
#pragma once

#include "workloads/rtdetr/query_selection.h"

namespace rangefinder::rtdetr {

/// Position of the boxes in the model's channels: both (images, 1, queries, channels).
struct QueryPosition {
  Tensor position;
  Tensor with_queries;  ///< x + position
};

/// Updates selection.target and overwrites position.with_queries. The value projection reads only the memory:
/// it is a branch from values.free_since on, and moves that point to after this layer's sampling. `number` is
/// used only for names.
void run_decoder_layer(Execution& execution, const Config& config, const DecoderLayerParameters& parameters,
                       const Geometry& geometry, const Selection& selection, const QueryPosition& position,
                       ValueSlot& values, int number);

}  // namespace rangefinder::rtdetr
