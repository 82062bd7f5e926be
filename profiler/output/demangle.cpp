// SPDX-License-Identifier: Apache-2.0
#include "profiler/output/demangle.h"

#include <cxxabi.h>

#include <cstdlib>

namespace rangefinder {

std::string demangle(std::string_view mangled) {
  constexpr std::size_t kMaxDemangled = 8192;
  const std::string name(mangled);
  if (!name.starts_with("_Z") || name.size() > kMaxDemangled) return name;
  int status = -1;
  char* const text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string out = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return out;
}

}  // namespace rangefinder
