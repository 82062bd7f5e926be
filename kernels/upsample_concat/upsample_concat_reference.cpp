// SPDX-License-Identifier: Apache-2.0
//
// The formula of upsample_concat.h in plain loops.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "kernels/upsample_concat/upsample_concat.h"
#include "kernels/upsample_concat/upsample_concat_arguments.h"

namespace rangefinder::kernels {
namespace {

const float* pixel(const NhwcInput& view, int image, int y, int x) {
  return static_cast<const float*>(view.data) + image * view.image_step() +
         (std::int64_t{y} * view.width + x) * view.pixel_step();
}

}  // namespace

void upsample_concat_reference(const UpsampleConcatArgs& args) {
  if (const char* reason = refusal(args))
    throw std::invalid_argument(std::string("upsample_concat: ") + reason);
  const NhwcOutput& output = args.output;
  for (int image = 0; image < args.images; ++image)
    for (int y = 0; y < output.height; ++y)
      for (int x = 0; x < output.width; ++x) {
        float* const target = static_cast<float*>(output.data) + image * output.image_step() +
                              (std::int64_t{y} * output.width + x) * output.pixel_step();
        std::copy_n(pixel(args.coarse, image, y / 2, x / 2), args.coarse.channels, target);
        std::copy_n(pixel(args.fine, image, y, x), args.fine.channels, target + args.coarse.channels);
      }
}

}  // namespace rangefinder::kernels
