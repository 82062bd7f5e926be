// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/no_match.h"

#include <algorithm>
#include <string_view>

#include "profiler/base/edit_distance.h"
#include "profiler/base/number_text.h"
#include "tools/analysis/model/path_names.h"

namespace rangefinder {
namespace {

constexpr std::string_view kAnyLevels = "**/";

/// The last `levels` names of a path.
std::string path_end(const std::unordered_map<std::uint32_t, PathRecord>& paths, std::uint32_t path,
                     std::size_t levels) {
  std::uint32_t above = path;
  for (std::size_t i = 0; i < levels; ++i) above = path_parent(paths, above);
  const std::string text = path_text(paths, path);
  return above == 0 ? text : text.substr(path_text(paths, above).size() + 1);
}

}  // namespace

std::string nearest_text(std::vector<std::string> names, const std::string& name) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::vector<std::string> nearest = nearest_names(names, name);
  if (nearest.empty()) return {};
  for (std::string& one : nearest) one = printable(one);
  return (nearest.size() == 1 ? "; the nearest is " : "; the nearest are ") + alternatives_text(nearest);
}

std::string no_path_text(const std::string& option, const std::string& pattern,
                         const std::unordered_map<std::uint32_t, PathRecord>& paths) {
  const std::string what = option + " " + printable(pattern);
  if (paths.empty()) return what + ": the trace has no NVTX range";
  std::string_view names = pattern;
  const bool any_level = names.starts_with(kAnyLevels) || names.find('/') == std::string_view::npos;
  if (names.starts_with(kAnyLevels)) names.remove_prefix(kAnyLevels.size());
  if (names.ends_with("/**")) names.remove_suffix(3);
  const auto levels = static_cast<std::size_t>(std::count(names.begin(), names.end(), '/')) + 1;
  const std::string front(any_level && levels > 1 ? kAnyLevels : "");
  std::vector<std::string> shown;
  for (const auto& [id, path] : paths)
    shown.push_back(front + (any_level ? path_end(paths, id, levels) : path_text(paths, id)));
  return what + ": no range of the trace matches" +
         nearest_text(std::move(shown), front + std::string(names));
}

}  // namespace rangefinder
