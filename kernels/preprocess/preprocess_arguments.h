// SPDX-License-Identifier: Apache-2.0
//
// Argument checks of preprocessing, shared by launcher and reference.
#pragma once

#include "kernels/preprocess/preprocess.h"

namespace rangefinder::kernels {

/// Up to this side, every product of a coordinate and a side fits 31 bits.
inline constexpr int kLongestSide = 32767;

/// Triangle filter from `source` to `target` pixels in integers: everything is multiplied by 2 * target. So
/// rounding is exact on every machine.
struct Triangle {
  int source;
  int target;

  constexpr int support() const { return 2 * (source > target ? source : target); }
  constexpr int centre(int i) const { return (2 * i + 1) * source; }
  constexpr int weight(int i, int j) const {
    const int distance = (2 * j + 1) * target - centre(i);
    const int left = support() - (distance < 0 ? -distance : distance);
    return left > 0 ? left : 0;
  }
  /// First source pixel with a weight, and one past the last.
  constexpr int first(int i) const {
    const int low = centre(i) - support() - target;  // 2 * target * j > low
    return low < 0 ? 0 : low / (2 * target) + 1;
  }
  constexpr int end(int i) const {
    const int high = (centre(i) + support() - target + 2 * target - 1) / (2 * target);
    return high < source ? high : source;
  }
};

/// Why `args` are refused, or nullptr if they are accepted.
inline const char* refusal(const PreprocessArgs& args) {
  if (args.source_height <= 0 || args.source_width <= 0) return "the source image is empty";
  if (args.target_height <= 0 || args.target_width <= 0) return "the target image is empty";
  if (args.source_height > kLongestSide || args.source_width > kLongestSide ||
      args.target_height > kLongestSide || args.target_width > kLongestSide)
    return "a side has more than 32767 pixels";
  if (args.image == nullptr || args.output == nullptr) return "image or output is absent";
  return nullptr;
}

}  // namespace rangefinder::kernels
