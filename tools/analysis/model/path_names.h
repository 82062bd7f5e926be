// SPDX-License-Identifier: Apache-2.0
//
// Names and depths of paths, from the path lines that a reader keeps by id.
//
//   paths[7] = {7, parent 3, "self_attn"}  ─▶  path_text(paths, 7) == "model/decoder/self_attn"
//
// An id without a path line is "(unknown)". A parent always has the smaller id: readers refuse other path
// lines, so parents cannot form a cycle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "profiler/attribution/path_totals.h"
#include "schema/record.h"

namespace rangefinder {

using PathRecords = std::unordered_map<std::uint32_t, PathRecord>;  ///< by id

[[nodiscard]] inline const std::string& path_name(const PathRecords& paths, std::uint32_t path) {
  static const std::string kUnknown = "(unknown)";
  const auto at = paths.find(path);
  return at == paths.end() ? kUnknown : at->second.name;
}

/// 0: outermost.
[[nodiscard]] inline std::uint32_t path_parent(const PathRecords& paths, std::uint32_t path) {
  const auto at = paths.find(path);
  return at == paths.end() || at->second.parent >= path ? 0 : at->second.parent;
}

/// 1: outermost; 0 for 0.
[[nodiscard]] inline std::uint32_t path_depth(const PathRecords& paths, std::uint32_t path) {
  std::uint32_t levels = 0;
  for (; path != 0; path = path_parent(paths, path)) ++levels;
  return levels;
}

/// Names joined by '/'; "" for 0.
[[nodiscard]] inline std::string path_text(const PathRecords& paths, std::uint32_t path) {
  return join_path(
      path, [&paths](std::uint32_t id) -> const std::string& { return path_name(paths, id); },
      [&paths](std::uint32_t id) { return path_parent(paths, id); });
}

/// Depths of the paths of a trace, so that a reader can refuse those that the profiler never writes: a path
/// of more than kMaxPathDepth levels, those below it, and one whose parent has no smaller id, as in a cycle.
/// The first line of an id counts. One thread.
class PathDepths {
 public:
  /// False: the path is refused.
  [[nodiscard]] bool accept(const PathRecord& path) {
    if (path.parent >= path.id) return false;
    const auto parent = depths_.find(path.parent);
    const std::uint32_t above = parent == depths_.end() ? 0 : parent->second;
    return depths_.emplace(path.id, std::min(above + 1, kMaxPathDepth + 1)).first->second <= kMaxPathDepth;
  }
  [[nodiscard]] static std::string refusal(const PathRecord& path) {
    if (path.parent >= path.id)
      return "path: " + std::to_string(path.id) + " has parent " + std::to_string(path.parent) +
             ", which is not smaller";
    return "path: " + std::to_string(path.id) + " has more than " + std::to_string(kMaxPathDepth) + " levels";
  }

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> depths_;  ///< by id; kMaxPathDepth + 1: refused
};

}  // namespace rangefinder
