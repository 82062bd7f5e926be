// SPDX-License-Identifier: Apache-2.0
//
// Which library a kernel comes from, by its name. Pure.
//
// The table in the .cpp, and that of communication_kernel.h, map a part of a name to a library. The trace
// repeats the matching part as evidence, so that a reader can disagree. A kernel without a match is "own":
// the application's.
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
