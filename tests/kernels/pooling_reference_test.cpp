// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/pooling/pooling.h"
#include "tests/catch.h"

using namespace rangefinder::kernels;

namespace {

/// One image of 4x4 pixels of 4 channels; channel c of pixel p is 16 c + p.
struct Pooled {
  Pooled() : input(4 * 4 * 4), output(2 * 2 * 4) {
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(16 * (i % 4) + i / 4);
    args.images = 1;
    args.input = {input.data(), 4, 4, 4, 0, 0};
    args.output = {output.data(), 2, 2, 4, 0, 0};
  }
  std::vector<float> input, output;
  PoolArgs args;
};

}  // namespace

TEST_CASE("max pooling takes the maximum of three by three, fewer at the border") {
  Pooled pooled;

  max_pool_reference(pooled.args);

  CHECK(pooled.output == std::vector<float>{5, 21, 37, 53, 7, 23, 39, 55, 13, 29, 45, 61, 15, 31, 47, 63});
}

TEST_CASE("the border does not raise max pooling of negative values to zero") {
  Pooled pooled;
  for (float& value : pooled.input) value -= 100;

  max_pool_reference(pooled.args);

  CHECK(pooled.output[0] == -95);
}

TEST_CASE("pooling gives NaN if a window has one") {
  Pooled pooled;
  pooled.input[0] = std::numeric_limits<float>::quiet_NaN();

  max_pool_reference(pooled.args);
  CHECK(std::isnan(pooled.output[0]));
  CHECK(pooled.output[1] == 21);

  average_pool_reference(pooled.args);
  CHECK(std::isnan(pooled.output[0]));
}

TEST_CASE("average pooling takes the mean of two by two") {
  Pooled pooled;

  average_pool_reference(pooled.args);

  CHECK(pooled.output == std::vector<float>{2.5F, 18.5F, 34.5F, 50.5F, 4.5F, 20.5F, 36.5F, 52.5F, 10.5F,
                                            26.5F, 42.5F, 58.5F, 12.5F, 28.5F, 44.5F, 60.5F});
}

TEST_CASE("pooling of an odd height is refused") {
  Pooled pooled;
  pooled.args.input.height = 3;

  CHECK_THROWS(max_pool_reference(pooled.args));
}
