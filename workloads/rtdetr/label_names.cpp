// SPDX-License-Identifier: Apache-2.0
//
// COCO's classes in the order of RT-DETR's labels.
#include <array>

#include "workloads/rtdetr/detection_output.h"

namespace rangefinder::rtdetr {
namespace {

constexpr std::array kCocoNames{"person",        "bicycle",      "car",
                                "motorcycle",    "airplane",     "bus",
                                "train",         "truck",        "boat",
                                "traffic light", "fire hydrant", "stop sign",
                                "parking meter", "bench",        "bird",
                                "cat",           "dog",          "horse",
                                "sheep",         "cow",          "elephant",
                                "bear",          "zebra",        "giraffe",
                                "backpack",      "umbrella",     "handbag",
                                "tie",           "suitcase",     "frisbee",
                                "skis",          "snowboard",    "sports ball",
                                "kite",          "baseball bat", "baseball glove",
                                "skateboard",    "surfboard",    "tennis racket",
                                "bottle",        "wine glass",   "cup",
                                "fork",          "knife",        "spoon",
                                "bowl",          "banana",       "apple",
                                "sandwich",      "orange",       "broccoli",
                                "carrot",        "hot dog",      "pizza",
                                "donut",         "cake",         "chair",
                                "couch",         "potted plant", "bed",
                                "dining table",  "toilet",       "tv",
                                "laptop",        "mouse",        "remote",
                                "keyboard",      "cell phone",   "microwave",
                                "oven",          "toaster",      "sink",
                                "refrigerator",  "book",         "clock",
                                "vase",          "scissors",     "teddy bear",
                                "hair drier",    "toothbrush"};
static_assert(kCocoNames.size() == 80);

}  // namespace

std::string label_name(int label, int labels) {
  const bool is_coco = labels == static_cast<int>(kCocoNames.size());
  if (is_coco && label >= 0 && label < labels) return kCocoNames[static_cast<std::size_t>(label)];
  return "label " + std::to_string(label);
}

}  // namespace rangefinder::rtdetr
