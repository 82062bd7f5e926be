// SPDX-License-Identifier: Apache-2.0
//
// The formula of postprocess.h, one detection at a time.
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "kernels/postprocess/postprocess.h"
#include "kernels/postprocess/postprocess_arguments.h"

namespace rangefinder::kernels {
namespace {

Detection detection(const PostprocessArgs& args, int image, std::int32_t flat) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  if (flat < 0 || flat >= args.queries * args.labels) return {nan, -1, nan, nan, nan, nan};
  const std::int64_t row = std::int64_t{image} * args.queries + flat / args.labels;
  const auto logit = static_cast<double>(args.logits[row * args.labels + flat % args.labels]);
  const float* const box = args.boxes + row * 4;
  const auto half_width = static_cast<double>(box[2]) / 2;
  const auto half_height = static_cast<double>(box[3]) / 2;
  const auto width = static_cast<double>(args.image_sizes[image].width);
  const auto height = static_cast<double>(args.image_sizes[image].height);
  return {static_cast<float>(1 / (1 + std::exp(-logit))),
          flat % args.labels,
          static_cast<float>((static_cast<double>(box[0]) - half_width) * width),
          static_cast<float>((static_cast<double>(box[1]) - half_height) * height),
          static_cast<float>((static_cast<double>(box[0]) + half_width) * width),
          static_cast<float>((static_cast<double>(box[1]) + half_height) * height)};
}

}  // namespace

void postprocess_reference(const PostprocessArgs& args) {
  if (const char* reason = refusal(args)) throw std::invalid_argument(std::string("postprocess: ") + reason);
  for (int image = 0; image < args.images; ++image)
    for (int i = 0; i < args.detections; ++i) {
      const std::int64_t at = std::int64_t{image} * args.detections + i;
      args.output[at] = detection(args, image, args.indices[at]);
    }
}

}  // namespace rangefinder::kernels
