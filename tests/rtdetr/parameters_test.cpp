// SPDX-License-Identifier: Apache-2.0
//
// What folded layers compute is in tiny_expected_test.cpp: every rule of folding is in that network.
#include <cmath>
#include <stdexcept>

#include "tests/catch.h"
#include "workloads/rtdetr/parameter_folding.h"

using namespace rangefinder::rtdetr;

namespace {

Folded zeros(int outputs, int inputs, int kernel_size) {
  Folded layer{outputs, inputs, kernel_size, {}, std::vector<double>(static_cast<std::size_t>(outputs))};
  layer.weight.resize(layer.bias.size() * static_cast<std::size_t>(layer.depth()));
  return layer;
}

}  // namespace

TEST_CASE("a batch norm is folded in double") {
  Weights weights;
  weights.set("a.weight", {{1, 1, 1, 1}, {0.3F}});
  weights.set("norm.weight", {{1}, {0.7F}});
  weights.set("norm.bias", {{1}, {0.2F}});
  weights.set("norm.running_mean", {{1}, {-0.4F}});
  weights.set("norm.running_var", {{1}, {0.9F}});

  const Folded folded = fold_batch_norm(weights, "a", "norm", 1e-5);

  const double gain = double{0.7F} / std::sqrt(double{0.9F} + 1e-5);
  CHECK(folded.weight[0] == Approx(gain * double{0.3F}).epsilon(1e-12));
  CHECK(folded.bias[0] == Approx(double{0.2F} + gain * double{0.4F}).epsilon(1e-12));
}

TEST_CASE("layers that do not match each other are refused") {
  const Folded wide = zeros(4, 3, 3);
  const Folded other = zeros(4, 2, 1);
  CHECK_THROWS_AS(merge_rep_vgg(wide, other), std::logic_error);
  CHECK_THROWS_AS(join_outputs(wide, other), std::logic_error);
  CHECK_THROWS_AS(join_inputs(other, wide), std::logic_error);
  CHECK_THROWS_AS(cut_inputs(other, 1, 2), std::logic_error);
}

TEST_CASE("padded columns are zeros") {
  Weights weights;
  weights.set("a.weight", {{2, 2}, {1, 2, 3, 4}});
  weights.set("a.bias", {{2}, {5, 6}});
  CHECK(fold_linear(weights, "a", 4).weight == std::vector<double>{1, 2, 0, 0, 3, 4, 0, 0});
}
