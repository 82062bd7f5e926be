// SPDX-License-Identifier: Apache-2.0
//
// The formula of stem.h in plain loops, one output element at a time.
#include <cstdint>
#include <stdexcept>
#include <string>

#include "kernels/stem/stem.h"
#include "kernels/stem/stem_arguments.h"

namespace rangefinder::kernels {
namespace {

double convolved(const StemArgs& args, int image, int y, int x, int channel) {
  const auto* const pixels = static_cast<const float*>(args.input.data) + image * args.input.image_step();
  const auto* const weight = static_cast<const float*>(args.weight) + channel * 27;
  double sum = static_cast<double>(args.bias[channel]);
  for (int tap = 0; tap < 27; ++tap) {
    const int row = 2 * y + tap / 9 - 1;
    const int column = 2 * x + tap / 3 % 3 - 1;
    if (row < 0 || row >= args.input.height || column < 0 || column >= args.input.width) continue;
    const std::int64_t pixel = std::int64_t{row} * args.input.width + column;
    sum += static_cast<double>(weight[tap]) * static_cast<double>(pixels[pixel * kPixelStride + tap % 3]);
  }
  return sum;
}

}  // namespace

void stem_reference(const StemArgs& args) {
  if (const char* reason = refusal(args)) throw std::invalid_argument(std::string("stem: ") + reason);
  const NhwcOutput& output = args.output;
  for (int image = 0; image < args.images; ++image)
    for (int y = 0; y < output.height; ++y)
      for (int x = 0; x < output.width; ++x) {
        float* const pixel = static_cast<float*>(output.data) + image * output.image_step() +
                             (std::int64_t{y} * output.width + x) * output.pixel_step();
        for (int channel = 0; channel < output.channels; ++channel) {
          const double sum = convolved(args, image, y, x, channel);
          pixel[channel] = static_cast<float>(sum < 0 ? 0 : sum);
        }
      }
}

}  // namespace rangefinder::kernels
