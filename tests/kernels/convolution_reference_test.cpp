// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "kernels/convolution/convolution.h"
#include "tests/catch.h"

using namespace rangefinder::kernels;

namespace {

std::vector<float> counting(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

/// Channel 0 of four, the others zero: loads are four floats wide.
std::vector<float> in_first_channel(const std::vector<float>& plane) {
  std::vector<float> values(4 * plane.size());
  for (std::size_t i = 0; i < plane.size(); ++i) values[4 * i] = plane[i];
  return values;
}

struct OneChannel {
  std::vector<float> input, weight, output;
  ConvolutionArgs args;

  /// Output channel 0 is the convolution of a counting plane with `kernel`.
  OneChannel(int height, int width, int stride, const std::vector<float>& kernel)
      : input(in_first_channel(counting(static_cast<std::size_t>(height * width)))),
        weight(16 * kernel.size()) {
    const int size = kernel.size() == 9 ? 3 : 1;
    for (std::size_t tap = 0; tap < kernel.size(); ++tap) weight[4 * tap] = kernel[tap];
    const int rows = (height - 1) / stride + 1;
    const int columns = (width - 1) / stride + 1;
    output.assign(static_cast<std::size_t>(4 * rows * columns), -1);
    args.images = 1;
    args.input = {input.data(), height, width, 4};
    args.output = {output.data(), rows, columns, 4};
    args.weight = weight.data();
    args.kernel_size = size;
    args.stride = stride;
  }
  float at(std::size_t pixel) const { return output[4 * pixel]; }
};

}  // namespace

TEST_CASE("a 3x3 of ones sums the neighbours, zeros outside") {
  OneChannel problem(3, 3, 1, std::vector<float>(9, 1));
  convolution_reference(problem.args);
  CHECK(problem.at(0) == 1 + 2 + 4 + 5);
  CHECK(problem.at(4) == 45);
  CHECK(problem.at(5) == 2 + 3 + 5 + 6 + 8 + 9);
}

TEST_CASE("the kernel is not mirrored: its first weight meets the pixel above and left") {
  OneChannel problem(3, 3, 1, {1, 0, 0, 0, 0, 0, 0, 0, 0});
  convolution_reference(problem.args);
  CHECK(problem.at(4) == 1);
  CHECK(problem.at(0) == 0);
}

TEST_CASE("stride two takes every second pixel, from the first") {
  OneChannel problem(4, 5, 2, {0, 0, 0, 0, 1, 0, 0, 0, 0});
  convolution_reference(problem.args);
  CHECK(problem.args.output.height == 2);
  CHECK(problem.args.output.width == 3);
  CHECK(problem.at(0) == 1);
  CHECK(problem.at(2) == 5);
  CHECK(problem.at(4) == 13);
}

TEST_CASE("the second input's weights follow all taps of the first") {
  OneChannel problem(2, 2, 1, {1});
  std::vector<float> second = in_first_channel({10, 20, 30, 40});
  std::vector<float> weight(4 * 8);
  weight[0] = 1;
  weight[4] = 2;
  problem.args.weight = weight.data();
  problem.args.second_input = {second.data(), 2, 2, 4};
  convolution_reference(problem.args);
  CHECK(problem.at(0) == 1 + 20);
  CHECK(problem.at(3) == 4 + 80);
}

TEST_CASE("a residual counts before or after the activation") {
  OneChannel problem(1, 2, 1, {-1});
  std::vector<float> residual = in_first_channel({5, 1});
  problem.args.activation = Activation::relu;
  problem.args.residual = {residual.data(), 1, 2, 4};
  convolution_reference(problem.args);
  CHECK(problem.at(0) == 4);
  CHECK(problem.at(1) == 0);

  problem.args.residual_place = ResidualPlace::after_activation;
  convolution_reference(problem.args);
  CHECK(problem.at(0) == 5);
  CHECK(problem.at(1) == 1);
}

TEST_CASE("an addend of half the size reaches four pixels each") {
  OneChannel problem(2, 4, 1, {1});
  std::vector<float> addend = in_first_channel({100, 200});
  problem.args.upsampled_addend = {addend.data(), 1, 2, 4};
  convolution_reference(problem.args);
  CHECK(problem.at(0) == 101);
  CHECK(problem.at(1) == 102);
  CHECK(problem.at(2) == 203);
  CHECK(problem.at(5) == 106);
  CHECK(problem.at(7) == 208);
}

TEST_CASE("a slice of channels does not change the channels beside it") {
  OneChannel problem(1, 2, 1, {3});
  std::vector<float> wide(2 * 12, -7);
  problem.args.output.data = wide.data() + 4;
  problem.args.output.pixel_stride = 12;
  convolution_reference(problem.args);
  CHECK(wide[4] == 3);
  CHECK(wide[16] == 6);
  CHECK(wide[3] == -7);
  CHECK(wide[8] == -7);
  CHECK(wide[23] == -7);
}

TEST_CASE("activations have their values at one, SiLU and exact GELU") {
  OneChannel problem(1, 1, 1, {1});
  problem.args.activation = Activation::silu;
  convolution_reference(problem.args);
  CHECK(std::abs(problem.at(0) - 0.7310585786f) < 1e-7f);

  problem.args.activation = Activation::gelu_erf;
  convolution_reference(problem.args);
  CHECK(std::abs(problem.at(0) - 0.8413447461f) < 1e-7f);
}

TEST_CASE("a convolution refuses what the launcher refuses") {
  OneChannel problem(4, 4, 1, {1});
  ConvolutionArgs args = problem.args;
  args.kernel_size = 5;
  CHECK_THROWS_AS(convolution_reference(args), std::invalid_argument);
  args = problem.args;
  args.stride = 3;
  CHECK_THROWS_AS(convolution_reference(args), std::invalid_argument);
  args = problem.args;
  args.input.channels = 3;
  CHECK_THROWS_AS(convolution_reference(args), std::invalid_argument);
  args = problem.args;
  args.output.height = 3;
  CHECK_THROWS_AS(convolution_reference(args), std::invalid_argument);
  args = problem.args;
  args.element = ElementType::fp16;
  CHECK_THROWS_AS(convolution_reference(args), std::invalid_argument);
}
