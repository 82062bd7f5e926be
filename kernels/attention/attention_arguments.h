// SPDX-License-Identifier: Apache-2.0
//
// Argument checks of attention, shared by launchers and reference.
#pragma once

#include "kernels/attention/attention.h"

namespace rangefinder::kernels {

inline constexpr int kHeadChannelsOfMost = 32;
inline constexpr int kHeadChannelsOfR101 = 48;

constexpr bool is_in_whole_loads(const AttentionOperand& operand, int multiple) {
  return operand.row_stride > 0 && operand.image_stride > 0 && operand.row_stride % multiple == 0 &&
         operand.image_stride % multiple == 0;
}

/// Why `args` are refused, or nullptr if they are accepted.
inline const char* refusal(const AttentionArgs& args) {
  const int multiple = elements_per_load(args.element);
  if (args.images < 0 || args.queries < 0) return "a count is negative";
  if (args.heads <= 0) return "there are no heads";
  if (args.keys <= 0) return "there are no keys";
  if (args.head_channels != kHeadChannelsOfMost && args.head_channels != kHeadChannelsOfR101)
    return "a head has neither 32 nor 48 channels";
  if (!(args.scale > 0)) return "the scale is not positive";
  if (args.query.data == nullptr || args.key.data == nullptr || args.value.data == nullptr ||
      args.output == nullptr)
    return "query, key, value or output is absent";
  if (!is_in_whole_loads(args.query, multiple) || !is_in_whole_loads(args.key, multiple) ||
      !is_in_whole_loads(args.value, multiple))
    return "a stride is zero or not a multiple of a load";
  return nullptr;
}

}  // namespace rangefinder::kernels
