// SPDX-License-Identifier: Apache-2.0
//
// The hybrid encoder: attention within the coarsest map (AIFI), then fusion across scales (CCFF), down (FPN)
// and up (PAN) (section 4.2 of the paper).
//
//   C5 -> proj -> AIFI -> lateral0 -> up -+-> fpn0 -> lateral1 -> up -+-> fpn1 = P3
//   C4 -> proj ---------------------------+                          |
//   C3 -> proj ------------------------------------------------------+
//   P3 -> down0 -+-> pan0 = P4 -> down1 -+-> pan1 = P5
//   lateral1 ----+         lateral0 -----+
#pragma once

#include "workloads/rtdetr/backbone.h"
#include "workloads/rtdetr/geometry.h"

namespace rangefinder::rtdetr {

/// The position embedding is constant, and so are its projections. One launch here saves the addition and the
/// second input in each forward pass. Sets geometry.projected_position; launches on `backend`.
void project_position_embedding(const AttentionParameters& parameters, kernels::ElementType element,
                                Backend& backend, Geometry& geometry);

/// Ranges: encoder_input_proj.i, encoder.{aifi.0.layers.0, lateral_convs, fpn_blocks, downsample_convs,
/// pan_blocks}. Result: P3, P4, P5 with encoder_channels, allocated from the arena.
FeatureMaps run_hybrid_encoder(Execution& execution, const Config& config,
                               const EncoderParameters& parameters, const Geometry& geometry,
                               const FeatureMaps& backbone_maps);

}  // namespace rangefinder::rtdetr
