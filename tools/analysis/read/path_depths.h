// SPDX-License-Identifier: Apache-2.0
//
// Depths of the paths of a trace, so that a reader can refuse those that the profiler never writes.
//
//   path 7, parent 3 ─▶ take(): depth of 3, plus one ─▶ true up to kMaxPathDepth
//
// A path below a refused one is refused too. As in path_names.h, a parent that is not smaller is ignored, and
// the first line of an id counts. One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "schema/record.h"

namespace rangefinder {

class PathDepths {
 public:
  /// False: the path has too many levels.
  [[nodiscard]] bool take(const PathRecord& path) {
    const auto parent = path.parent < path.id ? depths_.find(path.parent) : depths_.end();
    const std::uint32_t above = parent == depths_.end() ? 0 : parent->second;
    return depths_.emplace(path.id, std::min(above + 1, kMaxPathDepth + 1)).first->second <= kMaxPathDepth;
  }
  [[nodiscard]] static std::string refusal(const PathRecord& path) {
    return "path: " + std::to_string(path.id) + " has more than " + std::to_string(kMaxPathDepth) + " levels";
  }

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> depths_;  ///< by id; kMaxPathDepth + 1: refused
};

}  // namespace rangefinder
