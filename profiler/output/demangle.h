// SPDX-License-Identifier: Apache-2.0
//
// Demangled C++ names.
#pragma once

#include <string>
#include <string_view>

namespace rangefinder {

/// Returns `mangled` unchanged if it is no C++ name, or if it is over 8 KiB: the demangler's work can grow
/// far faster than its input.
[[nodiscard]] std::string demangle(std::string_view mangled);

}  // namespace rangefinder
