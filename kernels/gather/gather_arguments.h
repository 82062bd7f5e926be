// SPDX-License-Identifier: Apache-2.0
//
// Argument checks of gather, shared by launcher and reference.
#pragma once

#include "kernels/gather/gather.h"

namespace rangefinder::kernels {

constexpr std::int64_t source_row_step(const GatherArgs& args) {
  return args.source_stride_bytes != 0 ? args.source_stride_bytes : args.row_bytes;
}
constexpr std::int64_t source_image_step(const GatherArgs& args) {
  return args.source_image_bytes != 0 ? args.source_image_bytes : args.source_rows * source_row_step(args);
}

/// Why `args` are refused, or nullptr if they are accepted.
inline const char* refusal(const GatherArgs& args) {
  if (args.images < 0 || args.source_rows < 0 || args.gathered_rows < 0 || args.row_bytes < 0)
    return "a count is negative";
  if (args.row_bytes % 4 != 0 || args.source_stride_bytes % 4 != 0 || args.source_image_bytes % 4 != 0)
    return "row bytes or strides are not a multiple of 4";
  const bool is_empty = args.images == 0 || args.gathered_rows == 0 || args.row_bytes == 0;
  if (!is_empty && (args.source == nullptr || args.indices == nullptr || args.output == nullptr))
    return "source, indices or output is absent";
  return nullptr;
}

}  // namespace rangefinder::kernels
