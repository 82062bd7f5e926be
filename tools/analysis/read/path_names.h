// SPDX-License-Identifier: Apache-2.0
//
// Names and depths of paths, from the path lines that a reader keeps by id.
//
//   paths[7] = {7, parent 3, "self_attn"}  ─▶  path_text(paths, 7) == "model/decoder/self_attn"
//
// Works on any map from id to PathRecord. An id without a path line is "(unknown)". A parent always has the
// smaller id. In a damaged trace a larger parent id is ignored, so a chain of parents cannot be a cycle.
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
