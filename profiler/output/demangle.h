// SPDX-License-Identifier: Apache-2.0
//
// Demangled C++ names.
#pragma once

#include <string>
#include <string_view>

namespace rangefinder {

/// Returns `mangled` unchanged if it is no C++ name. The template arguments of a name over 1,024 characters
/// are replaced by `...` and a hash of the name: `cutlass::device_kernel<...~0c5f01a2b3c4d5e6>`.
[[nodiscard]] std::string demangle(std::string_view mangled);

}  // namespace rangefinder
