// SPDX-License-Identifier: Apache-2.0
//
// The convolutions and linear layers of RT-DETR R50 at 640 x 640. Each distinct one is listed once, with its
// number of runs in a forward pass. Sizes are those of one image.
#pragma once

#include <array>

#include "kernels/activation.h"

namespace rangefinder::kernel_bench {

using kernels::Activation;

struct ConvolutionShape {
  const char* name;
  int count;
  int extent;  ///< output height and width
  int channels;
  int second_channels;
  int outputs;
  int kernel_size;
  int stride;
  Activation activation = Activation::relu;
  bool has_residual = false;
  bool has_addend = false;
};

struct LinearShape {
  const char* name;
  int count;
  int rows;
  int columns;
  int depth;
  Activation activation = Activation::none;
  bool has_residual = false;
  bool output_is_fp32 = false;
};

inline constexpr auto kSilu = Activation::silu;
inline constexpr auto kNone = Activation::none;

inline constexpr std::array kConvolutions{
    ConvolutionShape{"stem 1", 1, 320, 32, 0, 32, 3, 1},
    ConvolutionShape{"stem 2", 1, 320, 32, 0, 64, 3, 1},
    ConvolutionShape{"stage 0 first in", 1, 160, 64, 0, 64, 1, 1},
    ConvolutionShape{"stage 0 in", 2, 160, 256, 0, 64, 1, 1},
    ConvolutionShape{"stage 0 3x3", 3, 160, 64, 0, 64, 3, 1},
    ConvolutionShape{"stage 0 first out", 1, 160, 64, 64, 256, 1, 1},
    ConvolutionShape{"stage 0 out", 2, 160, 64, 0, 256, 1, 1, Activation::relu, true},
    ConvolutionShape{"stage 1 first in", 1, 160, 256, 0, 128, 1, 1},
    ConvolutionShape{"stage 1 3x3 /2", 1, 80, 128, 0, 128, 3, 2},
    ConvolutionShape{"stage 1 first out", 1, 80, 128, 256, 512, 1, 1},
    ConvolutionShape{"stage 1 in", 3, 80, 512, 0, 128, 1, 1},
    ConvolutionShape{"stage 1 3x3", 3, 80, 128, 0, 128, 3, 1},
    ConvolutionShape{"stage 1 out", 3, 80, 128, 0, 512, 1, 1, Activation::relu, true},
    ConvolutionShape{"stage 2 first in", 1, 80, 512, 0, 256, 1, 1},
    ConvolutionShape{"stage 2 3x3 /2", 1, 40, 256, 0, 256, 3, 2},
    ConvolutionShape{"stage 2 first out", 1, 40, 256, 512, 1024, 1, 1},
    ConvolutionShape{"stage 2 in", 5, 40, 1024, 0, 256, 1, 1},
    ConvolutionShape{"stage 2 3x3", 5, 40, 256, 0, 256, 3, 1},
    ConvolutionShape{"stage 2 out", 5, 40, 256, 0, 1024, 1, 1, Activation::relu, true},
    ConvolutionShape{"stage 3 first in", 1, 40, 1024, 0, 512, 1, 1},
    ConvolutionShape{"stage 3 3x3 /2", 1, 20, 512, 0, 512, 3, 2},
    ConvolutionShape{"stage 3 first out", 1, 20, 512, 1024, 2048, 1, 1},
    ConvolutionShape{"stage 3 in", 2, 20, 2048, 0, 512, 1, 1},
    ConvolutionShape{"stage 3 3x3", 2, 20, 512, 0, 512, 3, 1},
    ConvolutionShape{"stage 3 out", 2, 20, 512, 0, 2048, 1, 1, Activation::relu, true},
    ConvolutionShape{"projection 80", 1, 80, 512, 0, 256, 1, 1, kNone},
    ConvolutionShape{"projection 40", 1, 40, 1024, 0, 256, 1, 1, kNone},
    ConvolutionShape{"projection 20", 1, 20, 2048, 0, 256, 1, 1, kNone},
    ConvolutionShape{"lateral, memory 20", 2, 20, 256, 0, 256, 1, 1, kSilu},
    ConvolutionShape{"lateral, memory 40", 2, 40, 256, 0, 256, 1, 1, kSilu},
    ConvolutionShape{"memory 80", 1, 80, 256, 0, 256, 1, 1, kNone},
    ConvolutionShape{"fpn coarse 20", 1, 20, 256, 0, 512, 1, 1, kNone},
    ConvolutionShape{"fpn coarse 40", 1, 40, 256, 0, 512, 1, 1, kNone},
    ConvolutionShape{"fpn entry 40", 1, 40, 256, 0, 512, 1, 1, kSilu, false, true},
    ConvolutionShape{"fpn entry 80", 1, 80, 256, 0, 512, 1, 1, kSilu, false, true},
    ConvolutionShape{"csp 3x3 80", 3, 80, 256, 0, 256, 3, 1, kSilu},
    ConvolutionShape{"csp 3x3 40", 6, 40, 256, 0, 256, 3, 1, kSilu},
    ConvolutionShape{"csp 3x3 20", 3, 20, 256, 0, 256, 3, 1, kSilu},
    ConvolutionShape{"down 40", 1, 40, 256, 0, 256, 3, 2, kSilu},
    ConvolutionShape{"down 20", 1, 20, 256, 0, 256, 3, 2, kSilu},
    ConvolutionShape{"pan entry 40", 1, 40, 256, 256, 512, 1, 1, kSilu},
    ConvolutionShape{"pan entry 20", 1, 20, 256, 256, 512, 1, 1, kSilu},
};

inline constexpr std::array kLinears{
    LinearShape{"aifi q, k, v", 1, 400, 768, 256},
    LinearShape{"aifi out", 1, 400, 256, 256},
    LinearShape{"aifi ffn 1", 1, 400, 1024, 256, Activation::gelu_erf},
    LinearShape{"aifi ffn 2", 1, 400, 256, 1024, kNone, true},
    LinearShape{"enc_output, value", 7, 8400, 256, 256},
    LinearShape{"enc scores", 1, 8400, 80, 256, kNone, false, true},
    LinearShape{"query position 1", 6, 300, 512, 8, Activation::relu},
    LinearShape{"query position 2", 6, 300, 256, 512},
    LinearShape{"q, k, v", 6, 300, 768, 256},
    LinearShape{"out, box hidden", 26, 300, 256, 256},
    LinearShape{"offsets, weights", 6, 300, 288, 256},
    LinearShape{"ffn 1", 6, 300, 1024, 256, Activation::relu},
    LinearShape{"ffn 2", 6, 300, 256, 1024, kNone, true},
    LinearShape{"box", 7, 300, 4, 256, kNone, false, true},
    LinearShape{"class", 1, 300, 80, 256, kNone, false, true},
};

}  // namespace rangefinder::kernel_bench
