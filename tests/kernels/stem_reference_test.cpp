// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "kernels/stem/stem.h"
#include "tests/catch.h"

using namespace rangefinder::kernels;

namespace {

/// 4x4 pixels, channel c of pixel p is 100 c + p, the fourth element is a trap; 8 output channels.
struct Stem {
  Stem() : input(4 * 4 * 4, 1e9F), weight(8 * 27), bias(8), output(2 * 2 * 8) {
    for (std::size_t pixel = 0; pixel < 16; ++pixel)
      for (std::size_t c = 0; c < 3; ++c) input[pixel * 4 + c] = static_cast<float>(100 * c + pixel);
    args.images = 1;
    args.input = {input.data(), 4, 4, 3, kPixelStride, 0};
    args.weight = weight.data();
    args.bias = bias.data();
    args.output = {output.data(), 2, 2, 8, 0, 0};
  }
  /// Of output channel o.
  float& tap(std::size_t o, std::size_t row, std::size_t column, std::size_t channel) {
    return weight[o * 27 + row * 9 + column * 3 + channel];
  }
  float at(std::size_t pixel, std::size_t o) const { return output[pixel * 8 + o]; }
  std::vector<float> input, weight, bias, output;
  StemArgs args;
};

}  // namespace

TEST_CASE("the stem's centre tap is every second pixel of every second row") {
  Stem stem;
  stem.tap(1, 1, 1, 2) = 1;

  stem_reference(stem.args);

  CHECK(stem.at(0, 1) == 200);
  CHECK(stem.at(1, 1) == 202);
  CHECK(stem.at(2, 1) == 208);
  CHECK(stem.at(3, 1) == 210);
  CHECK(stem.at(3, 0) == 0);
}

TEST_CASE("taps are row before column, and pixels outside are zero") {
  Stem stem;
  stem.tap(0, 0, 2, 0) = 1;  // one row up, one column to the right
  stem.tap(5, 2, 0, 0) = 1;  // one row down, one column to the left

  stem_reference(stem.args);

  CHECK(stem.at(0, 0) == 0);
  CHECK(stem.at(3, 0) == 7);
  CHECK(stem.at(0, 5) == 0);
  CHECK(stem.at(1, 5) == 5);
  CHECK(stem.at(3, 5) == 13);
}

TEST_CASE("the bias is added and negative sums become zero") {
  Stem stem;
  stem.tap(3, 1, 1, 0) = -1;
  stem.bias[3] = 8.5F;

  stem_reference(stem.args);

  CHECK(stem.at(0, 3) == 8.5F);
  CHECK(stem.at(2, 3) == 0.5F);
  CHECK(stem.at(3, 3) == 0);
}
