// SPDX-License-Identifier: Apache-2.0
//
// One photograph to one input image of the network: resize with antialiasing, scale to 0..1.
//
//   horizontal, then vertical, with 8-bit values in between:
//   s = source / target size, support = max(1, s), centre = (i + 0.5) * s
//   weight(j) = max(0, 1 - |j + 0.5 - centre| / max(1, s)) over j in [centre - support, centre + support),
//   normalised to sum 1; result rounded to the nearest byte, halves up: integers throughout, so exact
//   out[y,x,c] = byte / 255
//
// Follows torchvision's resize of uint8 tensors with antialias=True, whose fixed-point weights may differ by
// 1/255. Does not keep the aspect ratio. Subtracts no mean and divides by no deviation: RT-DETR uses neither.
// Output pixels are kPixelStride (stem.h) elements apart. Refuses (cudaErrorInvalidValue): empty images,
// sides of more than 32767 pixels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/element_type.h"

namespace rangefinder::kernels {

struct PreprocessArgs {
  ElementType element = ElementType::fp32;  ///< of output
  const std::uint8_t* image = nullptr;      ///< (source_height, source_width, 3), RGB, packed
  int source_height = 0;
  int source_width = 0;
  int target_height = 0;
  int target_width = 0;
  std::uint8_t* workspace = nullptr;  ///< preprocess_workspace_bytes(): the image after the horizontal pass
  void* output = nullptr;             ///< (target_height, target_width, 4); the fourth element becomes 0
};

std::size_t preprocess_workspace_bytes(const PreprocessArgs& args);

cudaError_t launch_preprocess(const PreprocessArgs& args, cudaStream_t stream);
void preprocess_reference(const PreprocessArgs& args);  ///< host memory, fp32

}  // namespace rangefinder::kernels
