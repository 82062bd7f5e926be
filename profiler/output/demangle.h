// SPDX-License-Identifier: Apache-2.0
//
// C++ names as people write them.
#pragma once

#include <string>
#include <string_view>

namespace rangefinder {

/// `mangled` itself where it is no C++ name, or so long that the demangler's work, which can grow
/// far faster than its input, is not worth it.
[[nodiscard]] std::string demangle(std::string_view mangled);

}  // namespace rangefinder
