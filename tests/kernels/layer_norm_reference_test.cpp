// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "kernels/layer_norm/layer_norm.h"
#include "tests/catch.h"

using namespace rangefinder::kernels;

namespace {

/// A row of 16 times 0 and 16 times 2: mean 1, variance 1.
struct Normalised {
  Normalised() : input(32), gamma(32, 3), beta(32, 10), output(32) {
    for (std::size_t i = 0; i < 32; ++i) input[i] = i % 2 == 0 ? 0.0F : 2.0F;
    args.rows = 1;
    args.channels = 32;
    args.input = input.data();
    args.gamma = gamma.data();
    args.beta = beta.data();
    args.epsilon = 0;
    args.output = output.data();
  }
  std::vector<float> input, gamma, beta, output;
  LayerNormArgs args;
};

}  // namespace

TEST_CASE("a row is normalised to mean 0 and variance 1, then scaled and shifted") {
  Normalised row;

  layer_norm_reference(row.args);

  CHECK(row.output[0] == 7);
  CHECK(row.output[31] == 13);
}

TEST_CASE("epsilon is added to the variance, not to the deviation") {
  Normalised row;
  row.args.epsilon = 3;  // sqrt(1 + 3) = 2

  layer_norm_reference(row.args);

  CHECK(row.output[0] == 8.5F);
}

TEST_CASE("the residual is added before the statistics") {
  Normalised row;
  const std::vector<float> residual = row.input;  // the sum has mean 2 and deviation 2
  row.args.residual = residual.data();
  row.args.epsilon = 12;  // sqrt(4 + 12) = 4

  layer_norm_reference(row.args);

  CHECK(row.output[0] == 8.5F);
}

TEST_CASE("the position is added to the result, its rows repeated") {
  Normalised row;
  std::vector<float> two_rows(row.input);
  two_rows.insert(two_rows.end(), row.input.begin(), row.input.end());
  const std::vector<float> position(32, 100);
  std::vector<float> output(64), with_position(64);
  row.args.rows = 2;
  row.args.input = two_rows.data();
  row.args.output = output.data();
  row.args.position = position.data();
  row.args.position_rows = 1;
  row.args.output_with_position = with_position.data();

  layer_norm_reference(row.args);

  CHECK(output[32] == 7);
  CHECK(with_position[0] == 107);
  CHECK(with_position[63] == 113);
}

TEST_CASE("a position without its output is refused") {
  Normalised row;
  row.args.position = row.input.data();
  row.args.position_rows = 1;

  CHECK_THROWS(layer_norm_reference(row.args));
}
