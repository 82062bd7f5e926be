// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/detection_output.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace rangefinder::rtdetr {

std::vector<kernels::Detection> above_threshold(std::span<const kernels::Detection> detections,
                                                float threshold) {
  std::vector<kernels::Detection> kept;
  std::copy_if(detections.begin(), detections.end(), std::back_inserter(kept),
               [&](const kernels::Detection& one) { return one.score > threshold; });
  return kept;
}

std::string detections_json(const ImageDetections& image, int labels) {
  nlohmann::ordered_json line;
  line["source"] = image.source;
  line["height"] = image.height;
  line["width"] = image.width;
  line["detections"] = nlohmann::ordered_json::array();
  for (const kernels::Detection& one : image.detections)
    line["detections"].push_back({{"label", one.label},
                                  {"name", label_name(one.label, labels)},
                                  {"score", one.score},
                                  {"box", {one.left, one.top, one.right, one.bottom}}});
  // A file name may hold any bytes; invalid UTF-8 becomes the replacement character.
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace rangefinder::rtdetr
