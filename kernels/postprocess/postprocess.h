// SPDX-License-Identifier: Apache-2.0
//
// Detections from selected entries of the last layer's logits (top_k over queries * labels selects them).
//
//   flat = indices[b,i]   query = flat / labels   label = flat % labels
//   score = sigmoid(logits[b,query,label])
//   box = (cx - w/2, cy - h/2, cx + w/2, cy + h/2) * (image width, height, width, height)     in pixels
//
// No threshold and no clamping to the image: the host filters. All in fp32.
// An index outside [0, queries * labels) gives label -1 and NaN.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace rangefinder::kernels {

struct Detection {
  float score;                     ///< 0..1
  std::int32_t label;              ///< [0, labels)
  float left, top, right, bottom;  ///< pixels of the source image
};

struct ImageSize {
  float height;  ///< pixels
  float width;   ///< pixels
};

struct PostprocessArgs {
  int images = 0;
  int queries = 0;
  int labels = 0;
  int detections = 0;                      ///< per image
  const float* logits = nullptr;           ///< (images, queries, labels)
  const float* boxes = nullptr;            ///< (images, queries, 4): centre x, y, width, height in 0..1
  const std::int32_t* indices = nullptr;   ///< (images, detections)
  const ImageSize* image_sizes = nullptr;  ///< (images), in the same memory as the rest
  Detection* output = nullptr;             ///< (images, detections)
};

cudaError_t launch_postprocess(const PostprocessArgs& args, cudaStream_t stream);
void postprocess_reference(const PostprocessArgs& args);  ///< host memory, in double

}  // namespace rangefinder::kernels
