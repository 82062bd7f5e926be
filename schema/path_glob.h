// SPDX-License-Identifier: Apache-2.0
//
// Patterns over paths, the same wherever a user names some of them:
//
//   *   any text within one level     model/*/self_attn
//   **  any levels, none too          **/fpn_blocks/1, model/**
//   ?   one letter
//
// A pattern names a path and all below it: `model/decoder` holds model/decoder/layers/0.
#pragma once

#include <string_view>

namespace rangefinder {

/// `path` joined by '/', as reports show it.
[[nodiscard]] constexpr bool matches_glob(std::string_view pattern, std::string_view path) noexcept {
  while (!pattern.empty()) {
    if (pattern.starts_with("**")) {
      pattern.remove_prefix(2);
      if (pattern.starts_with("/") && matches_glob(pattern.substr(1), path)) return true;  // no level at all
      for (std::size_t i = 0; i <= path.size(); ++i) {
        if (matches_glob(pattern, path.substr(i))) return true;
      }
      return false;
    }
    if (pattern.front() == '*') {
      pattern.remove_prefix(1);
      for (std::size_t i = 0; i <= path.size(); ++i) {
        if (matches_glob(pattern, path.substr(i))) return true;
        if (i < path.size() && path[i] == '/') return false;
      }
      return false;
    }
    if (path.empty() || (pattern.front() != '?' && pattern.front() != path.front()) ||
        (pattern.front() == '?' && path.front() == '/')) {
      return false;
    }
    pattern.remove_prefix(1);
    path.remove_prefix(1);
  }
  return path.empty() || path.front() == '/';
}

}  // namespace rangefinder
