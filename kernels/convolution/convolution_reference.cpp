// SPDX-License-Identifier: Apache-2.0
//
// The formula of convolution.h in plain loops, one output element at a time.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "kernels/convolution/convolution.h"
#include "kernels/convolution/convolution_arguments.h"
#include "kernels/gemm/activation_reference.h"

namespace rangefinder::kernels {
namespace {

const float* element(const NhwcInput& view, int image, int y, int x) {
  return static_cast<const float*>(view.data) + image * view.image_step() +
         (std::int64_t{y} * view.width + x) * view.pixel_step();
}

double dot(const float* a, const float* b, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

/// Bias plus both inputs; `weight`: the row of output channel o.
double convolved(const ConvolutionArgs& args, const float* weight, int image, int y, int x) {
  const int size = args.kernel_size;
  const int channels = args.input.channels;
  double sum = 0;
  for (int row = 0; row < size; ++row) {
    for (int column = 0; column < size; ++column, weight += channels) {
      const int input_y = y * args.stride + row - size / 2;
      const int input_x = x * args.stride + column - size / 2;
      if (input_y < 0 || input_y >= args.input.height || input_x < 0 || input_x >= args.input.width) continue;
      sum += dot(weight, element(args.input, image, input_y, input_x), channels);
    }
  }
  if (args.second_input.data != nullptr)
    sum += dot(weight, element(args.second_input, image, y, x), args.second_input.channels);
  return sum;
}

float output_value(const ConvolutionArgs& args, const float* weight, int image, int y, int x, int channel) {
  double sum = convolved(args, weight, image, y, x);
  if (args.bias != nullptr) sum += static_cast<double>(args.bias[channel]);
  if (args.upsampled_addend.data != nullptr)
    sum += static_cast<double>(element(args.upsampled_addend, image, y / 2, x / 2)[channel]);
  const double residual =
      args.residual.data != nullptr ? static_cast<double>(element(args.residual, image, y, x)[channel]) : 0.0;
  const bool is_before = args.residual_place == ResidualPlace::before_activation;
  const double active = activated(args.activation, is_before ? sum + residual : sum);
  return static_cast<float>(is_before ? active : active + residual);
}

}  // namespace

void convolution_reference(const ConvolutionArgs& args) {
  if (const char* reason = refusal(args)) throw std::invalid_argument(std::string("convolution: ") + reason);
  if (element_bytes(args.element) != sizeof(float))
    throw std::invalid_argument("convolution: the reference supports fp32 and tf32 only");
  const NhwcOutput& output = args.output;
  const int second = args.second_input.data != nullptr ? args.second_input.channels : 0;
  const std::int64_t depth = std::int64_t{args.kernel_size} * args.kernel_size * args.input.channels + second;
  for (int image = 0; image < args.images; ++image) {
    for (int y = 0; y < output.height; ++y) {
      for (int x = 0; x < output.width; ++x) {
        float* const pixel = static_cast<float*>(output.data) + image * output.image_step() +
                             (std::int64_t{y} * output.width + x) * output.pixel_step();
        const float* weight = static_cast<const float*>(args.weight);
        for (int channel = 0; channel < output.channels; ++channel, weight += depth)
          pixel[channel] = output_value(args, weight, image, y, x, channel);
      }
    }
  }
}

}  // namespace rangefinder::kernels
