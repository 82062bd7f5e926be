// SPDX-License-Identifier: Apache-2.0
//
// Position of a sample of deformable attention, for the fused and the unfused kernels.
#pragma once

#include "kernels/deformable_attention/deformable_attention.h"
#include "kernels/packed_elements.cuh"

namespace rangefinder::kernels {

/// Location in 0..1; `offsets` of this sample, `box` = centre x, y, width, height.
__device__ __forceinline__ float2 location_of(float offset_x, float offset_y, float4 box, int points) {
  const float share = 0.5f / static_cast<float>(points);
  return make_float2(box.x + offset_x * box.z * share, box.y + offset_y * box.w * share);
}

/// The four neighbours of a location: upper left, upper right, lower left, lower right.
struct Taps {
  int position[4];  ///< in the level; valid even if the weight is 0
  float weight[4];  ///< 0 outside; NaN if the location is NaN
};

__device__ __forceinline__ Taps taps_of(float2 location, int height, int width) {
  const float x = location.x * static_cast<float>(width) - 0.5f;
  const float y = location.y * static_cast<float>(height) - 0.5f;
  // Far outside, the floats do not fit an int. NaN is not outside and makes every weight NaN.
  const bool is_outside =
      x <= -1.0f || x >= static_cast<float>(width) || y <= -1.0f || y >= static_cast<float>(height);
  const float left = floorf(x);
  const float top = floorf(y);
  const float right_share = x - left;
  const float lower_share = y - top;
  const int column = is_outside ? 0 : static_cast<int>(left);
  const int row = is_outside ? 0 : static_cast<int>(top);
  Taps taps;
#pragma unroll
  for (int tap = 0; tap < 4; ++tap) {
    const int at_column = column + tap % 2;
    const int at_row = row + tap / 2;
    const bool is_inside =
        !is_outside && at_column >= 0 && at_column < width && at_row >= 0 && at_row < height;
    const float weight =
        (tap % 2 == 0 ? 1.0f - right_share : right_share) * (tap / 2 == 0 ? 1.0f - lower_share : lower_share);
    taps.position[tap] = is_inside ? at_row * width + at_column : 0;
    taps.weight[tap] = is_inside ? weight : 0.0f;
  }
  return taps;
}

}  // namespace rangefinder::kernels
