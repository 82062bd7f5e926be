// SPDX-License-Identifier: Apache-2.0
//
// A kernel's demangled name, short enough for a table.
//
//   void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int, float)
//     ─▶  at::native::vectorized_elementwise_kernel<…>
//
// Return type and parameters go, template arguments become `<…>`. What is not a C++
// name stays as it is.
#pragma once

#include <string>
#include <string_view>

namespace rangefinder {

[[nodiscard]] std::string short_kernel_name(std::string_view demangled);

}  // namespace rangefinder
