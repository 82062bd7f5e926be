// SPDX-License-Identifier: Apache-2.0
//
// From all positions of the maps to the decoder's first queries (section 4.3 of the paper).
//
//   P3, P4, P5 -> decoder_input_proj -> memory (images, positions, C)
//   memory -> enc_output -> score head -> top k -> rows of enc_output = target
//                                              -> box head on these rows only + anchors -> boxes
#pragma once

#include <array>
#include <cstdint>

#include "workloads/rtdetr/backbone.h"
#include "workloads/rtdetr/geometry.h"

namespace rangefinder::rtdetr {

/// Memory for the projected values of a decoder layer; layers alternate between two of them.
struct ValueSlot {
  Tensor value;            ///< (images, 1, positions, model_channels)
  BranchPoint free_since;  ///< it may be written after this point
};

struct Selection {
  Tensor memory;                    ///< (images, 1, positions, model_channels)
  Tensor target;                    ///< (images, 1, queries, model_channels): the decoder's queries, in place
  const std::int32_t* chosen;       ///< (images, queries): positions, best first
  float* boxes;                     ///< (images, queries, 4): centre x, y, width, height in 0..1
  std::array<ValueSlot, 2> values;  ///< free once `memory` is ready: the first two layers need not wait
  Tensor query_input;               ///< (images, 1, queries, kQueryInputColumns): boxes for query_pos_head
};

/// The selected rows go to `target`. `forced_indices`: (images, queries) in the backend's memory instead of
/// the top k, or nullptr. Ranges: decoder_input_proj.i, enc_output, enc_score_head, enc_bbox_head, and
/// `top_k`, which is not a module.
Selection run_query_selection(Execution& execution, const Config& config,
                              const SelectionParameters& parameters, const Geometry& geometry,
                              const FeatureMaps& encoder_maps, const Tensor& target,
                              const std::int32_t* forced_indices);

}  // namespace rangefinder::rtdetr
