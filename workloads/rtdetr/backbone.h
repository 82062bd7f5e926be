// SPDX-License-Identifier: Apache-2.0
//
// ResNet-vd: pixels to three feature maps (section 4.1 of the RT-DETR paper; torchvision's variant d).
//
//   pixels -> stem 3x3/2, 3x3, 3x3 -> max pool -> stage 0 -> stage 1 -> stage 2 -> stage 3
//                                                             C3 /8      C4 /16     C5 /32
#pragma once

#include <array>

#include "workloads/rtdetr/config.h"
#include "workloads/rtdetr/execution.h"
#include "workloads/rtdetr/parameters.h"

namespace rangefinder::rtdetr {

using FeatureMaps = std::array<Tensor, kLevels>;  ///< finest first

/// Ranges: backbone.model.embedder, .encoder.stages.S.layers.L. `pixels`: 3 channels, pixel stride 4.
/// The maps come from the arena and live until the caller's scope ends.
FeatureMaps run_backbone(Execution& execution, const Config& config, const BackboneParameters& parameters,
                         const Tensor& pixels);

}  // namespace rangefinder::rtdetr
