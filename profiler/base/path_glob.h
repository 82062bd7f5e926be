// SPDX-License-Identifier: Apache-2.0
//
// Patterns over paths, the same in every option and command that selects paths (docs/reference/names.md,
// Patterns):
//
//   decoder            without a slash: a range of this name at any level
//   model/decoder      with one: from the outermost level; /model is the outermost range alone
//   model/*/self_attn  * is any text within one level
//   **/fpn_blocks/1    ** is any levels; `**/` at the start of a level also matches none
//   layers/?           ? is one character
//
// A pattern matches a path and all below it: `model/decoder` matches model/decoder/layers/0.
#pragma once

#include <cstddef>
#include <string_view>

namespace rangefinder {

/// `path` is joined by '/', as reports show it. Time: at most the pattern's length times the square of the
/// path's. No memory and no recursion, so a pattern of any length is safe.
[[nodiscard]] constexpr bool matches_glob(std::string_view pattern, std::string_view path) noexcept {
  constexpr std::size_t kNone = std::string_view::npos;
  // Backtracking: the pattern after a star, and the path position where it was tried last. The latest star of
  // each kind is enough: everything before it has matched as early as possible, and a later match would leave
  // less of the path.
  struct Star {
    std::size_t rest = kNone;
    std::size_t at = 0;
  };
  Star one;                   // `*`, to the end of a level
  Star two;                   // `**`, to the end of the path
  bool whole_levels = false;  // `two` is a `**/` at the start of a level: the next part starts one, too

  std::size_t p = 0;
  std::size_t s = 0;
  if (pattern.starts_with('/')) {
    pattern.remove_prefix(1);
  } else if (!pattern.empty() && pattern.find('/') == std::string_view::npos) {
    whole_levels = true;
    two = {0, 0};
  }
  while (true) {
    const std::string_view rest = pattern.substr(p);
    if (rest.empty()) {
      if (s == path.size() || path[s] == '/') return true;
    } else if (rest.starts_with("**")) {
      whole_levels = rest.starts_with("**/") && (p == 0 || pattern[p - 1] == '/');
      p += whole_levels ? 3 : 2;
      one = {};
      two = {p, s};
      continue;
    } else if (rest.front() == '*') {
      one = {++p, s};
      continue;
    } else if (s < path.size() && (rest.front() == '?' ? path[s] != '/' : rest.front() == path[s])) {
      ++p;
      ++s;
      continue;
    }

    if (one.rest != kNone && one.at < path.size() && path[one.at] != '/') {
      p = one.rest;
      s = ++one.at;
      continue;
    }
    if (two.rest == kNone) return false;
    do {
      if (two.at == path.size()) return false;
      ++two.at;
    } while (whole_levels && path[two.at - 1] != '/');
    one = {};
    p = two.rest;
    s = two.at;
  }
}

}  // namespace rangefinder
