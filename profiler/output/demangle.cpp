// SPDX-License-Identifier: Apache-2.0
#include "profiler/output/demangle.h"

#include <cxxabi.h>

#include <charconv>
#include <cstdlib>

#include "profiler/events/name_table.h"

namespace rangefinder {
namespace {

// libstdc++ refuses names of more than 1,024 characters, which kernels made of templates reach.
constexpr std::size_t kMaxForLibrary = 1024;

// The name of the function in front of its template arguments, as far as it is plain: namespaces and names.
std::string outline(std::string_view mangled) {
  std::string out;
  const bool nested = mangled.starts_with("_ZN");
  for (std::string_view rest = mangled.substr(nested ? 3 : 2);;) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
    if (error != std::errc{}) {
      if (out.empty() || !rest.starts_with('I')) return std::string(mangled);
      break;
    }
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (length > rest.size()) return std::string(mangled);
    const std::string_view part = rest.substr(0, length);
    if (!out.empty()) out += "::";
    out += part.starts_with("_GLOBAL__N") ? "(anonymous namespace)" : part;
    rest.remove_prefix(length);
    if (!nested && !rest.starts_with('I')) return std::string(mangled);
  }
  char hash[kHashDigits];
  write_hash(hash_text(mangled), hash);
  return out + "<...~" + std::string(hash, kHashDigits) + ">";
}

}  // namespace

std::string demangle(std::string_view mangled) {
  const std::string name(mangled);
  if (!name.starts_with("_Z")) return name;
  if (name.size() > kMaxForLibrary) return outline(name);
  int status = -1;
  char* const text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string out = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return out;
}

}  // namespace rangefinder
