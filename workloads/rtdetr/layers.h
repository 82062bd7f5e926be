// SPDX-License-Identifier: Apache-2.0
//
// The launches that stages are made of: parameters and tensors in, one op each. What the wiring says in
// a line (backbone.cpp ... decoder.cpp) becomes the argument struct of a kernel here.
//
// No memory is allocated but where `Execution::arena` is named. Shapes are the caller's; what does not fit
// the launcher refuses.
#pragma once

#include "kernels/activation.h"
#include "workloads/rtdetr/execution.h"
#include "workloads/rtdetr/parameters.h"

namespace rangefinder::rtdetr {

/// What else a convolution reads; tensors without data are absent.
struct ConvolutionOperands {
  Tensor second_input;
  Tensor residual;
  kernels::ResidualPlace residual_place = kernels::ResidualPlace::before_activation;
  Tensor upsampled_addend;
};

void convolve(Execution& execution, const Convolution& layer, const Tensor& input, const Tensor& output,
              kernels::Activation activation, const ConvolutionOperands& operands = {});

/// Rows of `input` through `layer`, as arguments that the caller may add to.
kernels::GemmArgs linear_args(Execution& execution, const Linear& layer, const Tensor& input,
                              const Tensor& output);
void apply_linear(Execution& execution, const Linear& layer, const Tensor& input, const Tensor& output,
                  kernels::Activation activation = kernels::Activation::none);
/// The same with fp32 results (rows, layer.outputs), whatever the element type.
void apply_linear_fp32(Execution& execution, const Linear& layer, const Tensor& input, float* output);

/// ReLU between, none behind; each layer in a range layers.i. Intermediates come from the arena.
void apply_mlp_fp32(Execution& execution, const Mlp& layers, const Tensor& input, float* output);

/// output = norm(input + residual); where `position` is given also output + position.
struct NormOperands {
  Tensor residual;
  Tensor position;
  Tensor output_with_position;
};
void normalize(Execution& execution, const Norm& norm, double epsilon, const Tensor& input,
               const Tensor& output, const NormOperands& operands = {});

/// Attention among the rows of one image; `projected` is q, k and v side by side.
void attend(Execution& execution, int heads, const Tensor& projected, const Tensor& output);

/// second(activation(first(input))), ranges fc1 and fc2.
void feed_forward(Execution& execution, const FeedForward& layers, kernels::Activation activation,
                  const Tensor& input, const Tensor& output);

}  // namespace rangefinder::rtdetr
