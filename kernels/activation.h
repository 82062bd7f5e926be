// SPDX-License-Identifier: Apache-2.0
//
// Activations that convolution and GEMM apply to their fp32 sums before the store.
// GELU has no tanh approximation: RT-DETR uses the exact one.
#pragma once

namespace rangefinder::kernels {

enum class Activation {
  none,
  relu,      ///< max(v, 0); propagates NaN
  silu,      ///< v / (1 + exp(-v))
  gelu_erf,  ///< v / 2 * (1 + erf(v / sqrt(2)))
};

}  // namespace rangefinder::kernels
