// SPDX-License-Identifier: Apache-2.0
//
// The formulas of pooling.h in plain loops.
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "kernels/pooling/pooling.h"
#include "kernels/pooling/pooling_arguments.h"

namespace rangefinder::kernels {
namespace {

float at(const NhwcInput& view, int image, int y, int x, int channel) {
  return static_cast<const float*>(
      view.data)[image * view.image_step() + (std::int64_t{y} * view.width + x) * view.pixel_step() +
                 channel];
}

float maximum(const PoolArgs& args, int image, int y, int x, int channel) {
  float best = -std::numeric_limits<float>::infinity();
  for (int row = 2 * y - 1; row <= 2 * y + 1; ++row) {
    for (int column = 2 * x - 1; column <= 2 * x + 1; ++column) {
      if (row < 0 || row >= args.input.height || column < 0 || column >= args.input.width) continue;
      const float value = at(args.input, image, row, column, channel);
      if (std::isnan(value) || value > best) best = value;
      if (std::isnan(best)) return best;
    }
  }
  return best;
}

float mean(const PoolArgs& args, int image, int y, int x, int channel) {
  double sum = 0;
  for (int row = 2 * y; row <= 2 * y + 1; ++row)
    for (int column = 2 * x; column <= 2 * x + 1; ++column)
      sum += static_cast<double>(at(args.input, image, row, column, channel));
  return static_cast<float>(sum / 4);
}

void pool(const PoolArgs& args, float (*pooled)(const PoolArgs&, int, int, int, int)) {
  if (const char* reason = refusal(args)) throw std::invalid_argument(std::string("pooling: ") + reason);
  const NhwcOutput& output = args.output;
  for (int image = 0; image < args.images; ++image)
    for (int y = 0; y < output.height; ++y)
      for (int x = 0; x < output.width; ++x) {
        float* const pixel = static_cast<float*>(output.data) + image * output.image_step() +
                             (std::int64_t{y} * output.width + x) * output.pixel_step();
        for (int channel = 0; channel < output.channels; ++channel)
          pixel[channel] = pooled(args, image, y, x, channel);
      }
}

}  // namespace

void max_pool_reference(const PoolArgs& args) {
  pool(args, maximum);
}

void average_pool_reference(const PoolArgs& args) {
  pool(args, mean);
}

}  // namespace rangefinder::kernels
