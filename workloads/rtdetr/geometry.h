// SPDX-License-Identifier: Apache-2.0
//
// Everything that depends only on the input size: sizes of the levels, anchors, position embedding. Computed
// once on the host in double, then uploaded.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/deformable_attention/deformable_attention.h"
#include "kernels/element_type.h"
#include "workloads/rtdetr/backend.h"
#include "workloads/rtdetr/config.h"

namespace rangefinder::rtdetr {

/// Host values, also for tests.
/// anchor (x, y, w, h) of level l: logit of ((x + .5)/W, (y + .5)/H, .05 * 2^l, .05 * 2^l), all FLT_MAX
/// if one of the four is outside (0.01, 0.99).
struct Anchors {
  std::vector<float> logits;        ///< (positions, 4)
  std::vector<std::uint8_t> valid;  ///< (positions)
};
Anchors make_anchors(const std::array<kernels::FeatureLevel, kLevels>& levels);

/// (height * width, channels): [sin h | cos h | sin w | cos w], channels / 4 frequencies
/// 10000^(-4i/channels).
std::vector<float> make_position_embedding(int height, int width, int channels);

struct Geometry {
  int height = 0;  ///< of the input, pixels
  int width = 0;
  std::array<kernels::FeatureLevel, kLevels> levels{};  ///< strides 8, 16, 32
  int positions = 0;                                    ///< of all levels: 8400 at 640x640
  const float* anchors = nullptr;                       ///< (positions, 4), in the backend's memory
  const std::uint8_t* valid = nullptr;                  ///< (positions)
  const void* position_embedding = nullptr;             ///< of level 2, in the element type
  /// Its contribution to q, k and v of AIFI: (positions of level 2, 3 * channels), zero for v. Made by
  /// project_position_embedding().
  const void* projected_position = nullptr;
};

/// Throws std::invalid_argument if a size is not a multiple of kSizeMultiple, or gives fewer positions than
/// queries.
Geometry make_geometry(const Config& config, int height, int width, kernels::ElementType element,
                       Backend& backend);

}  // namespace rangefinder::rtdetr
