// SPDX-License-Identifier: Apache-2.0
//
// Folded layers compared with the layers that they replace, computed one after the other.
#include <cmath>
#include <stdexcept>

#include "tests/catch.h"
#include "workloads/rtdetr/parameter_folding.h"

using namespace rangefinder::rtdetr;

namespace {

constexpr double kEpsilon = 1e-5;

float value_at(int i) {
  return static_cast<float>(std::sin(1.7 * i + 0.3));
}

std::vector<float> values(std::int64_t count, int phase) {
  std::vector<float> made;
  for (int i = 0; i < count; ++i) made.push_back(value_at(i + phase));
  return made;
}

/// Adds a convolution `name` and its batch norm `name`_norm.
void add_layer(Weights& weights, const std::string& name, const Shape& shape, int phase) {
  weights.set(name + ".weight", {shape, values(element_count(shape), phase)});
  const Shape channels{shape[0]};
  weights.set(name + "_norm.weight", {channels, values(shape[0], phase + 1)});
  weights.set(name + "_norm.bias", {channels, values(shape[0], phase + 2)});
  weights.set(name + "_norm.running_mean", {channels, values(shape[0], phase + 3)});
  std::vector<float> variance = values(shape[0], phase + 4);
  for (float& one : variance) one = 0.5F + one * one;
  weights.set(name + "_norm.running_var", {channels, variance});
}

/// Batch norm of the convolution's sum for output `o`; `input(c, row, column)`: the 3x3 or 1x1 around (0, 0).
template <typename Input>
double unfolded(const Weights& weights, const std::string& name, std::size_t o, Input&& input) {
  const WeightTensor& kernel = weights.at(name + ".weight");
  const int size = static_cast<int>(kernel.shape[2]);
  const int inputs = static_cast<int>(kernel.shape[1]);
  double sum = 0;
  for (int c = 0; c < inputs; ++c)
    for (int r = 0; r < size; ++r)
      for (int q = 0; q < size; ++q) {
        const int index = ((static_cast<int>(o) * inputs + c) * size + r) * size + q;
        sum += static_cast<double>(kernel.values[static_cast<std::size_t>(index)]) *
               input(c, r - size / 2, q - size / 2);
      }
  const auto of = [&](const char* part) {
    return static_cast<double>(weights.at(name + "_norm." + part).values[o]);
  };
  return (sum - of("running_mean")) / std::sqrt(of("running_var") + kEpsilon) * of("weight") + of("bias");
}

/// The same from the folded layer.
template <typename Input>
double folded_sum(const Folded& layer, std::size_t o, Input&& input) {
  double sum = layer.bias[o];
  const double* weight = layer.weight.data() + o * static_cast<std::size_t>(layer.depth());
  for (int r = 0; r < layer.kernel_size; ++r)
    for (int q = 0; q < layer.kernel_size; ++q)
      for (int c = 0; c < layer.inputs; ++c)
        sum += *weight++ * input(c, r - layer.kernel_size / 2, q - layer.kernel_size / 2);
  return sum;
}

double sample(int c, int row, int column) {
  return std::cos(c + 2.1 * row - 0.7 * column);
}

}  // namespace

TEST_CASE("a folded convolution gives what convolution and batch norm give") {
  Weights weights;
  add_layer(weights, "a", {4, 3, 3, 3}, 5);

  const Folded folded = fold_batch_norm(weights, "a", "a_norm", kEpsilon);

  for (std::size_t o = 0; o < 4; ++o)
    CHECK(folded_sum(folded, o, sample) == Approx(unfolded(weights, "a", o, sample)).epsilon(1e-12));
}

TEST_CASE("a merged RepVGG block gives the sum of its branches") {
  Weights weights;
  add_layer(weights, "wide", {4, 3, 3, 3}, 5);
  add_layer(weights, "point", {4, 3, 1, 1}, 50);

  const Folded merged = merge_rep_vgg(fold_batch_norm(weights, "wide", "wide_norm", kEpsilon),
                                      fold_batch_norm(weights, "point", "point_norm", kEpsilon));

  for (std::size_t o = 0; o < 4; ++o) {
    const double both = unfolded(weights, "wide", o, sample) + unfolded(weights, "point", o, sample);
    CHECK(folded_sum(merged, o, sample) == Approx(both).epsilon(1e-12));
  }
}

TEST_CASE("a layer cut along its inputs and joined again is the layer") {
  Weights weights;
  add_layer(weights, "a", {3, 4, 1, 1}, 5);
  const Folded whole = fold_batch_norm(weights, "a", "a_norm", kEpsilon);
  Folded back = cut_inputs(whole, 2, 2);
  back.bias.assign(3, 0.0);

  const Folded joined = join_inputs(cut_inputs(whole, 0, 2), back);

  CHECK(joined.weight == whole.weight);
  CHECK(joined.bias == whole.bias);
  CHECK(joined.inputs == 2);  // of the first layer; the second's follow in the rows
}

TEST_CASE("a shortcut joined to a 3x3 follows all of its taps") {
  Weights weights;
  add_layer(weights, "wide", {2, 3, 3, 3}, 5);
  add_layer(weights, "shortcut", {2, 4, 1, 1}, 50);
  const Folded wide = fold_batch_norm(weights, "wide", "wide_norm", kEpsilon);
  const Folded shortcut = fold_batch_norm(weights, "shortcut", "shortcut_norm", kEpsilon);

  const Folded joined = join_inputs(wide, shortcut);

  REQUIRE(joined.weight.size() == 2 * (27 + 4));
  CHECK(joined.weight[31] == wide.weight[27]);
  CHECK(joined.weight[31 + 27] == shortcut.weight[4]);
  CHECK(joined.bias[1] == wide.bias[1] + shortcut.bias[1]);
}

TEST_CASE("joined outputs follow each other, and padded columns are zeros") {
  Weights weights;
  weights.set("a.weight", {{2, 2}, {1, 2, 3, 4}});
  weights.set("a.bias", {{2}, {5, 6}});
  weights.set("b.weight", {{1, 2}, {7, 8}});
  weights.set("b.bias", {{1}, {9}});

  const Folded joined = join_outputs(fold_linear(weights, "a", 2), fold_linear(weights, "b", 2));
  CHECK(joined.outputs == 3);
  CHECK(joined.weight == std::vector<double>{1, 2, 3, 4, 7, 8});
  CHECK(joined.bias == std::vector<double>{5, 6, 9});

  CHECK(fold_linear(weights, "a", 4).weight == std::vector<double>{1, 2, 0, 0, 3, 4, 0, 0});
}

TEST_CASE("layers that do not match each other are refused") {
  Weights weights;
  add_layer(weights, "wide", {4, 3, 3, 3}, 5);
  add_layer(weights, "other", {4, 2, 1, 1}, 50);
  const Folded wide = fold_batch_norm(weights, "wide", "wide_norm", kEpsilon);
  const Folded other = fold_batch_norm(weights, "other", "other_norm", kEpsilon);
  CHECK_THROWS_AS(merge_rep_vgg(wide, other), std::logic_error);
  CHECK_THROWS_AS(join_outputs(wide, other), std::logic_error);
  CHECK_THROWS_AS(join_inputs(other, wide), std::logic_error);
  CHECK_THROWS_AS(cut_inputs(other, 1, 2), std::logic_error);
}
