// SPDX-License-Identifier: Apache-2.0
//
// Output of detections: JSON, lines of text, and boxes with labels drawn into the image.
// Does not use CUDA.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/postprocess/postprocess.h"
#include "workloads/rtdetr/image_file.h"

namespace rangefinder::rtdetr {

/// COCO's 80 names in label order; "label 81" and so on beyond them, and for other label counts.
std::string label_name(int label, int labels);

/// Detections with a score above `threshold`, in the same order.
std::vector<kernels::Detection> above_threshold(std::span<const kernels::Detection> detections,
                                                float threshold);

struct ImageDetections {
  std::string source;  ///< file name, or "random"
  int height = 0;      ///< pixels of the source
  int width = 0;
  std::vector<kernels::Detection> detections;
};

/// One JSON object per line and image: source, height, width, detections [{label, name, score, box}].
std::string detections_json(const ImageDetections& image, int labels);

using Colour = std::array<std::uint8_t, 3>;  ///< red, green, blue
Colour label_colour(int label);

/// Frames and names in the label's colour, clipped to the image.
void draw_detections(Image& image, std::span<const kernels::Detection> detections, int labels);

}  // namespace rangefinder::rtdetr
