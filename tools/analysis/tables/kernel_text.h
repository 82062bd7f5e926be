// SPDX-License-Identifier: Apache-2.0
//
// Shortens a kernel's demangled name for a table.
//
//   void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int, float)
//     ─▶  at::native::vectorized_elementwise_kernel<…>
//
// Removes the return type and the parameters, and replaces template arguments by `<…>`. A name that is not
// C++ stays unchanged.
#pragma once

#include <string>
#include <string_view>

namespace rangefinder {

[[nodiscard]] std::string short_kernel_name(std::string_view demangled);

}  // namespace rangefinder
