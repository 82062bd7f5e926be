// SPDX-License-Identifier: Apache-2.0
//
// Classifies kernels by name: a trace does not show otherwise what a kernel computes.
//
// Knows the names of PyTorch, cuBLAS, cuDNN, CUTLASS, Triton and this repository. A name that matches no
// pattern is `other`; rules about kinds of kernels skip it.
#pragma once

#include <string_view>

namespace rangefinder {

enum class KernelSort : unsigned char {
  other,
  elementwise,
  matrix_product,
  softmax,
  attention,
  communication  ///< not told by kernel_sort(): TraceNames::communicates() knows
};

/// `name`: demangled.
[[nodiscard]] KernelSort kernel_sort(std::string_view name);

/// A matrix product, a convolution or attention: uses few warps with many registers each by design.
[[nodiscard]] bool keeps_few_warps(std::string_view name);

/// A matrix product or convolution whose name places it on the FP32 pipes: "sgemm", "simt".
[[nodiscard]] bool is_fp32_product(std::string_view name);

/// Where a matrix product, convolution or fused attention computes, as far as its name says: "FP32", "tensor
/// fp16", "tensor bf16", "tensor tf32", "tensor fp8", "tensor" if the type is not in the name; "": unknown,
/// or another kernel.
[[nodiscard]] std::string_view product_unit(std::string_view name);

}  // namespace rangefinder
