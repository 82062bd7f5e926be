// SPDX-License-Identifier: Apache-2.0
//
// Which library a kernel comes from, by its name. Pure.
//
// Binary libraries name their kernels in their own ways; the table in the .cpp says
// which part of a name tells, and the trace repeats it as evidence, so that a reader
// can disagree. What no entry matches is the program's "own".
#pragma once

#include <string>
#include <string_view>

namespace rangefinder {

struct KernelOrigin {
  std::string_view from_library;  ///< "cuBLAS", …, "own"
  std::string evidence;           ///< "name starts with nvjet", "no known pattern"
};

/// `demangled` may equal `mangled`.
[[nodiscard]] KernelOrigin kernel_origin(std::string_view mangled, std::string_view demangled);

}  // namespace rangefinder
