// SPDX-License-Identifier: Apache-2.0
//
// Two-dimensional convolution of channels-last activations as an implicit GEMM. The epilogue holds every op
// that follows a convolution in RT-DETR.
//
//   s[n,y,x,o] = bias[o]
//     + sum_{r,q,c} weight[o, (r*k + q)*C + c] * input[n, y*stride + r - p, x*stride + q - p, c]
//     + sum_{d}     weight[o, k*k*C + d]       * second_input[n, y, x, d]
//     + upsampled_addend[n, y/2, x/2, o]
//   before_activation: out = activation(s + residual)        (shortcut of a ResNet block)
//   after_activation:  out = activation(s) + residual        (a + b of a CSP block)
//
// with k = kernel_size in {1, 3}, p = k / 2, stride in {1, 2}, zeros outside the input, output height
// (height + 2p - k) / stride + 1. Absent operands (data nullptr, bias nullptr) count as zero.
//
// As a GEMM: M = images * output pixels, N = output channels, K = k*k*C + D.
//
// Refuses (cudaErrorInvalidValue): other kernel sizes and strides; channels or strides of any operand that
// are not a multiple of elements_per_load(); operands whose height and width do not fit the output;
// upsampled_addend with an odd output height or width. Never allocates, never synchronises.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "kernels/activation.h"
#include "kernels/element_type.h"
#include "kernels/nhwc.h"
#include "kernels/workspace.h"

namespace rangefinder::kernels {

enum class ResidualPlace { before_activation, after_activation };

struct ConvolutionArgs {
  ElementType element = ElementType::fp32;  ///< of input, second_input, weight, addends and output
  int images = 0;
  NhwcInput input;
  NhwcInput second_input;        ///< 1x1, at output resolution; its channels are the last columns of weight
  const void* weight = nullptr;  ///< (output channels, k*k*C + D), row-major, 16-byte aligned
  const float* bias = nullptr;   ///< (output channels), or nullptr
  NhwcInput residual;            ///< at output resolution, or absent
  ResidualPlace residual_place = ResidualPlace::before_activation;
  NhwcInput upsampled_addend;  ///< at half the output resolution, added to 2x2 pixels, or absent
  NhwcOutput output;           ///< may equal `residual`, must not overlap the inputs
  int kernel_size = 1;         ///< 1 or 3
  int stride = 1;              ///< 1 or 2
  Activation activation = Activation::none;
  /// On 9.0 the launch may start before the preceding kernels on the stream have ended. It reads weight and
  /// bias then, and everything else after they have ended. Set it to false if a preceding kernel writes
  /// weight or bias.
  bool may_start_early = true;
  Workspace workspace;
  int tile = -1;     ///< [0, convolution_tiles()), or -1: the launcher chooses. For tests and tuning.
  int splits_k = 0;  ///< parts of K summed in a fixed order; 0: the launcher chooses
};

/// Tiles that this build has for `element` on the current device; 0 without a device.
int convolution_tiles(ElementType element);

/// Workspace that the launcher can use for these arguments, counters included. Ignores the pointers.
std::size_t convolution_workspace_bytes(const ConvolutionArgs& args);

cudaError_t launch_convolution(const ConvolutionArgs& args, cudaStream_t stream);

/// The same on host memory, element fp32 or tf32 (both plain fp32 here), sums in double. Ignores workspace,
/// tile and splits_k. Throws std::invalid_argument where the launcher refuses.
void convolution_reference(const ConvolutionArgs& args);

}  // namespace rangefinder::kernels
