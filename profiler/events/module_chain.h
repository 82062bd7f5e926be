// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace rangefinder {

/// Hash of the names (NameTable ids) of a module and the modules around it: begin with 0 and the innermost
/// name. Paths of one module end with its names: below `train`, below `backward`, and in each iteration.
[[nodiscard]] constexpr std::uint64_t module_chain(std::uint64_t inner, std::uint32_t name) noexcept {
  std::uint64_t hash = (inner ^ name) + 0x9E3779B97F4A7C15;
  hash = (hash ^ hash >> 30) * 0xBF58476D1CE4E5B9;
  hash = (hash ^ hash >> 27) * 0x94D049BB133111EB;
  return hash ^ hash >> 31;
}

}  // namespace rangefinder
