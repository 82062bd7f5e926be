// SPDX-License-Identifier: Apache-2.0
//
// What sort of kernel a name stands for: all that a trace says of what a kernel computes.
//
// Looks at names only, of PyTorch, cuBLAS, cuDNN, CUTLASS, Triton and this repository. A name that no
// pattern knows is `other`, and no rule about sorts of kernels speaks of it.
#pragma once

#include <string_view>

namespace rangefinder {

enum class KernelSort : unsigned char { other, elementwise, matrix_product, softmax, attention };

/// `name`: demangled.
[[nodiscard]] KernelSort kernel_sort(std::string_view name);

/// A product, a convolution or attention: holds few warps with many registers each on purpose.
[[nodiscard]] bool keeps_few_warps(std::string_view name);

/// A matrix product or convolution on the FP32 pipes by its name: "sgemm", "simt".
[[nodiscard]] bool is_fp32_product(std::string_view name);

}  // namespace rangefinder
