// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/parameter_folding.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace rangefinder::rtdetr {
namespace {

std::size_t product(int a, int b) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(std::string("folding: ") + what);
}

}  // namespace

Folded fold_batch_norm(const Weights& weights, const std::string& convolution, const std::string& norm,
                       double epsilon) {
  const WeightTensor& kernel = weights.at(convolution + ".weight");
  const std::vector<float>& gamma = weights.at(norm + ".weight").values;
  const std::vector<float>& beta = weights.at(norm + ".bias").values;
  const std::vector<float>& mean = weights.at(norm + ".running_mean").values;
  const std::vector<float>& variance = weights.at(norm + ".running_var").values;
  Folded folded;
  folded.outputs = static_cast<int>(kernel.shape[0]);
  folded.inputs = static_cast<int>(kernel.shape[1]);
  folded.kernel_size = static_cast<int>(kernel.shape[2]);
  folded.weight.resize(kernel.values.size());
  folded.bias.resize(static_cast<std::size_t>(folded.outputs));
  const auto taps = static_cast<std::size_t>(folded.kernel_size * folded.kernel_size);
  const auto inputs = static_cast<std::size_t>(folded.inputs);
  for (std::size_t o = 0; o < folded.bias.size(); ++o) {
    const double gain = gamma[o] / std::sqrt(static_cast<double>(variance[o]) + epsilon);
    folded.bias[o] = beta[o] - mean[o] * gain;
    const float* const source = kernel.values.data() + o * inputs * taps;  // (in, row, column)
    double* const target = folded.weight.data() + o * inputs * taps;       // (row, column, in)
    for (std::size_t c = 0; c < inputs; ++c)
      for (std::size_t tap = 0; tap < taps; ++tap) target[tap * inputs + c] = gain * source[c * taps + tap];
  }
  return folded;
}

Folded fold_linear(const Weights& weights, const std::string& name, int padded_inputs) {
  const WeightTensor& matrix = weights.at(name + ".weight");
  const std::vector<float>& bias = weights.at(name + ".bias").values;
  const auto inputs = static_cast<std::size_t>(matrix.shape[1]);
  const auto padded = static_cast<std::size_t>(padded_inputs);
  require(padded >= inputs, "padding would remove columns");
  Folded folded;
  folded.outputs = static_cast<int>(matrix.shape[0]);
  folded.inputs = padded_inputs;
  folded.weight.assign(product(folded.outputs, padded_inputs), 0.0);
  for (std::size_t o = 0; o < bias.size(); ++o)
    std::copy_n(matrix.values.data() + o * inputs, inputs, folded.weight.data() + o * padded);
  folded.bias.assign(bias.begin(), bias.end());
  return folded;
}

Folded merge_rep_vgg(Folded wide, const Folded& point) {
  require(wide.kernel_size == 3 && point.kernel_size == 1, "RepVGG merges a 3x3 with a 1x1");
  require(wide.outputs == point.outputs && wide.inputs == point.inputs, "RepVGG branches differ in channels");
  constexpr int kCentreTap = 4;
  const auto inputs = static_cast<std::size_t>(wide.inputs);
  for (std::size_t o = 0; o < wide.bias.size(); ++o) {
    double* const centre =
        wide.weight.data() + o * static_cast<std::size_t>(wide.depth()) + kCentreTap * inputs;
    for (std::size_t c = 0; c < inputs; ++c) centre[c] += point.weight[o * inputs + c];
    wide.bias[o] += point.bias[o];
  }
  return wide;
}

Folded join_outputs(Folded first, const Folded& second) {
  require(first.depth() == second.depth() && first.kernel_size == second.kernel_size,
          "layers with joined outputs differ in depth");
  first.outputs += second.outputs;
  first.weight.insert(first.weight.end(), second.weight.begin(), second.weight.end());
  first.bias.insert(first.bias.end(), second.bias.begin(), second.bias.end());
  return first;
}

Folded cut_inputs(const Folded& whole, int first, int count) {
  require(whole.kernel_size == 1 && first >= 0 && first + count <= whole.inputs,
          "the cut is outside the layer");
  Folded part;
  part.outputs = whole.outputs;
  part.inputs = count;
  part.bias = whole.bias;
  part.weight.reserve(product(part.outputs, count));
  for (int o = 0; o < whole.outputs; ++o) {
    const auto row = whole.weight.begin() + static_cast<std::ptrdiff_t>(product(o, whole.inputs)) + first;
    part.weight.insert(part.weight.end(), row, row + count);
  }
  return part;
}

Folded join_inputs(const Folded& first, const Folded& second) {
  require(first.outputs == second.outputs && second.kernel_size == 1,
          "layers with joined inputs differ in outputs");
  Folded joined = first;
  joined.weight.clear();
  joined.weight.reserve(product(first.outputs, first.depth() + second.depth()));
  for (std::size_t o = 0; o < first.bias.size(); ++o) {
    for (const Folded* const layer : {&first, &second}) {
      const auto depth = static_cast<std::ptrdiff_t>(layer->depth());
      const auto row = layer->weight.begin() + static_cast<std::ptrdiff_t>(o) * depth;
      joined.weight.insert(joined.weight.end(), row, row + depth);
    }
    joined.bias[o] += second.bias[o];
  }
  return joined;
}

}  // namespace rangefinder::rtdetr
