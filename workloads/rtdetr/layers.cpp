// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/layers.h"

#include <cmath>

namespace rangefinder::rtdetr {

void convolve(Execution& execution, const Convolution& layer, const Tensor& input, const Tensor& output,
              kernels::Activation activation, const ConvolutionOperands& operands) {
  kernels::ConvolutionArgs args;
  args.element = execution.element;
  args.images = input.images;
  args.input = input.input();
  args.second_input = operands.second_input.input();
  args.weight = layer.weight;
  args.bias = layer.bias;
  args.residual = operands.residual.input();
  args.residual_place = operands.residual_place;
  args.upsampled_addend = operands.upsampled_addend.input();
  args.output = output.view;
  args.kernel_size = layer.kernel_size;
  args.stride = layer.stride;
  args.activation = activation;
  execution.backend.run(args);
}

kernels::GemmArgs linear_args(Execution& execution, const Linear& layer, const Tensor& input,
                              const Tensor& output) {
  kernels::GemmArgs args;
  args.element = execution.element;
  args.output_element = execution.element;
  args.rows = static_cast<int>(input.rows());
  args.columns = layer.outputs;
  args.depth = layer.inputs;
  args.input = input.view.data;
  args.input_row_stride = input.view.pixel_step();
  args.weight = layer.weight;
  args.bias = layer.bias;
  args.output = output.view.data;
  args.output_row_stride = output.view.pixel_step();
  return args;
}

void apply_linear(Execution& execution, const Linear& layer, const Tensor& input, const Tensor& output,
                  kernels::Activation activation) {
  kernels::GemmArgs args = linear_args(execution, layer, input, output);
  args.activation = activation;
  execution.backend.run(args);
}

void apply_linear_fp32(Execution& execution, const Linear& layer, const Tensor& input, float* output) {
  kernels::GemmArgs args = linear_args(execution, layer, input, {});
  args.output_element = kernels::ElementType::fp32;
  args.output = output;
  args.output_row_stride = layer.outputs;
  execution.backend.run(args);
}

void apply_mlp_fp32(Execution& execution, const Mlp& layers, const Tensor& input, float* output) {
  const Arena::Scope scope(execution.arena);
  Tensor rows = input;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Module module(execution, "layers." + std::to_string(i));
    if (i + 1 == layers.size()) {
      apply_linear_fp32(execution, layers[i], rows, output);
    } else {
      const Tensor next = execution.arena.tensor(execution.element, input.images, input.view.height,
                                                 input.view.width, layers[i].outputs);
      apply_linear(execution, layers[i], rows, next, kernels::Activation::relu);
      rows = next;
    }
  }
}

void normalize(Execution& execution, const Norm& norm, double epsilon, const Tensor& input,
               const Tensor& output, const NormOperands& operands) {
  kernels::LayerNormArgs args;
  args.element = execution.element;
  args.rows = static_cast<int>(input.rows());
  args.channels = norm.channels;
  args.input = input.view.data;
  args.residual = operands.residual.view.data;
  args.gamma = norm.gamma;
  args.beta = norm.beta;
  args.epsilon = static_cast<float>(epsilon);
  args.output = output.view.data;
  args.position = operands.position.view.data;
  args.position_rows = operands.position.view.data != nullptr ? args.rows : 0;
  args.output_with_position = operands.output_with_position.view.data;
  execution.backend.run(args);
}

void attend(Execution& execution, int heads, const Tensor& projected, const Tensor& output) {
  const int channels = output.view.channels;
  kernels::AttentionArgs args;
  args.element = execution.element;
  args.images = projected.images;
  args.heads = heads;
  args.head_channels = channels / heads;
  args.queries = static_cast<int>(projected.view.pixels());
  args.keys = args.queries;
  args.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(args.head_channels)));
  const auto operand = [&](int part) {
    const Tensor slice = projected.channels(part * channels, channels);
    return kernels::AttentionOperand{slice.view.data, slice.view.pixel_step(), slice.view.image_step()};
  };
  args.query = operand(0);
  args.key = operand(1);
  args.value = operand(2);
  args.output = output.view.data;
  execution.backend.run(args, execution.attention);
}

void feed_forward(Execution& execution, const FeedForward& layers, kernels::Activation activation,
                  const Tensor& input, const Tensor& output) {
  const Arena::Scope scope(execution.arena);
  const Tensor hidden = execution.arena.tensor(execution.element, input.images, input.view.height,
                                               input.view.width, layers.first.outputs);
  {
    const Module first(execution, "fc1");
    apply_linear(execution, layers.first, input, hidden, activation);
  }
  const Module second(execution, "fc2");
  apply_linear(execution, layers.second, hidden, output);
}

}  // namespace rangefinder::rtdetr
