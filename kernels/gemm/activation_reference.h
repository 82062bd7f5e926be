// SPDX-License-Identifier: Apache-2.0
//
// The activations in double, for the references of convolution and GEMM.
#pragma once

#include <cmath>

#include "kernels/activation.h"

namespace rangefinder::kernels {

inline double activated(Activation activation, double value) {
  switch (activation) {
    case Activation::none:
      return value;
    case Activation::relu:
      return value < 0 ? 0 : value;
    case Activation::silu:
      return value / (1 + std::exp(-value));
    case Activation::gelu_erf:
      return value / 2 * (1 + std::erf(value / std::sqrt(2.0)));
  }
  return value;
}

}  // namespace rangefinder::kernels
