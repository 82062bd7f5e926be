// SPDX-License-Identifier: Apache-2.0
//
// The launches of the stages: parameters and tensors in, one op each. Turns a line of the wiring
// (backbone.cpp ... decoder.cpp) into the argument struct of a kernel.
//
// Allocates only from `Execution::arena`, where the comment says so. Callers must pass matching shapes; the
// launcher refuses others.
#pragma once

#include "kernels/activation.h"
#include "workloads/rtdetr/execution.h"
#include "workloads/rtdetr/parameters.h"

namespace rangefinder::rtdetr {

/// Further inputs of a convolution; tensors without data are absent.
struct ConvolutionOperands {
  Tensor second_input;
  Tensor residual;
  kernels::ResidualPlace residual_place = kernels::ResidualPlace::before_activation;
  Tensor upsampled_addend;
};

void convolve(Execution& execution, const Convolution& layer, const Tensor& input, const Tensor& output,
              kernels::Activation activation, const ConvolutionOperands& operands = {});

/// Arguments that apply `layer` to the rows of `input`; the caller may extend them.
kernels::GemmArgs linear_args(Execution& execution, const Linear& layer, const Tensor& input,
                              const Tensor& output);
void apply_linear(Execution& execution, const Linear& layer, const Tensor& input, const Tensor& output,
                  kernels::Activation activation = kernels::Activation::none);
/// The same with fp32 results (rows, layer.outputs), whatever the element type.
void apply_linear_fp32(Execution& execution, const Linear& layer, const Tensor& input, float* output);

/// ReLU between layers, none after the last; each layer in a range layers.i. Intermediates use the arena.
void apply_mlp_fp32(Execution& execution, const Mlp& layers, const Tensor& input, float* output);

/// output = norm(input + residual); if `position` is given, also output + position.
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
