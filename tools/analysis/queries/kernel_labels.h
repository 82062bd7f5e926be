// SPDX-License-Identifier: Apache-2.0
//
// Short names for the kernels of one table, which keep what distinguishes them.
//
//   void k::implicit_gemm_kernel<k::Mma<__half, 32>, 4, 2>(k::Gemm)  ─▶  implicit_gemm<half, 32>
//   void k::implicit_gemm_kernel<k::Mma<float, 64>, 4, 2>(k::Gemm)   ─▶  implicit_gemm<float, 64>
//   void k::softmax_kernel<__half>(float*)                           ─▶  softmax
//
// Removes namespaces, parameters, the ending `_kernel`, and template arguments that all kernels of that name
// share. A name that is not C++ stays unchanged.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rangefinder {

/// A kernel's demangled name by itself, where no table says what distinguishes it.
///
///   void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int, float)
///     ─▶  at::native::vectorized_elementwise_kernel<…>
///
/// Removes the return type and the parameters, and replaces template arguments by `<…>`. A name that is not
/// C++ stays unchanged.
[[nodiscard]] std::string short_kernel_name(std::string_view demangled);

/// Width that labels need in a table (Table::min_first_width).
inline constexpr std::size_t kKernelLabelWidth = 44;

/// One label a name, in the same order. Names that differ only in what is removed get a number: `softmax #2`.
[[nodiscard]] std::vector<std::string> kernel_labels(const std::vector<std::string_view>& demangled);

}  // namespace rangefinder
