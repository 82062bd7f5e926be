// SPDX-License-Identifier: Apache-2.0
//
// Names and levels of paths, from the path lines that a reader has kept by id.
//
//   paths[7] = {7, parent 3, "self_attn"}  ─▶  path_text(paths, 7) == "model/decoder/self_attn"
//
// Over any map from id to PathRecord. An id that the trace does not name is "(unknown)". A parent has
// the smaller id; one that claims otherwise, in a damaged trace, counts as none, so no chain is a circle.
#pragma once

#include <cstdint>
#include <string>

#include "profiler/attribution/path_totals.h"
#include "schema/record.h"

namespace rangefinder {

template <typename Paths>
[[nodiscard]] const std::string& path_name(const Paths& paths, std::uint32_t path) {
  static const std::string kUnknown = "(unknown)";
  const auto at = paths.find(path);
  return at == paths.end() ? kUnknown : at->second.name;
}

/// 0: outermost.
template <typename Paths>
[[nodiscard]] std::uint32_t path_parent(const Paths& paths, std::uint32_t path) {
  const auto at = paths.find(path);
  return at == paths.end() || at->second.parent >= path ? 0 : at->second.parent;
}

/// 1: outermost; 0 for 0.
template <typename Paths>
[[nodiscard]] std::uint32_t path_depth(const Paths& paths, std::uint32_t path) {
  std::uint32_t levels = 0;
  for (; path != 0; path = path_parent(paths, path)) ++levels;
  return levels;
}

/// Names joined by '/', each as `name_of(id)` gives it; "" for 0.
template <typename Paths, typename NameOf>
[[nodiscard]] std::string path_text(const Paths& paths, std::uint32_t path, NameOf&& name_of) {
  return join_path(path, name_of, [&paths](std::uint32_t id) { return path_parent(paths, id); });
}

template <typename Paths>
[[nodiscard]] std::string path_text(const Paths& paths, std::uint32_t path) {
  return path_text(paths, path,
                   [&paths](std::uint32_t id) -> const std::string& { return path_name(paths, id); });
}

}  // namespace rangefinder
