// SPDX-License-Identifier: Apache-2.0
//
// Argument checks of deformable attention, shared by launchers and reference.
#pragma once

#include "kernels/deformable_attention/deformable_attention.h"

namespace rangefinder::kernels {

inline constexpr int kSampledHeadChannels = 32;
inline constexpr int kMaxSamples = 16;  ///< levels * points

/// Why `args` are refused, or nullptr if they are accepted.
inline const char* refusal(const DeformableAttentionArgs& args) {
  const int multiple = elements_per_load(args.element);
  if (args.images < 0 || args.queries < 0) return "a count is negative";
  if (args.heads <= 0 || args.points <= 0) return "there are no heads or no points";
  if (args.head_channels != kSampledHeadChannels) return "a head does not have 32 channels";
  if (args.levels <= 0 || args.levels > kMaxLevels) return "the number of levels is not 1 to 4";
  if (args.levels * args.points > kMaxSamples) return "a head has more than 16 samples";
  for (int l = 0; l < args.levels; ++l) {
    const FeatureLevel& level = args.level[static_cast<std::size_t>(l)];
    if (level.height <= 0 || level.width <= 0 || level.start < 0) return "a level is empty";
  }
  if (args.value == nullptr || args.projected == nullptr || args.reference_boxes == nullptr ||
      args.output == nullptr)
    return "value, projected, reference boxes or output is absent";
  if (args.value_row_stride <= 0 || args.value_image_stride <= 0 || args.projected_row_stride <= 0)
    return "a stride is zero";
  if (args.value_row_stride % multiple != 0 || args.value_image_stride % multiple != 0)
    return "a stride of the values is not a multiple of a load";
  return nullptr;
}

}  // namespace rangefinder::kernels
