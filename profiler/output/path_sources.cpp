// SPDX-License-Identifier: Apache-2.0
#include "profiler/output/path_sources.h"

#include "profiler/events/module_chain.h"

namespace rangefinder {

void PathSources::add(std::uint32_t path, std::uint64_t module, const PathSource& source) {
  if (by_path_.size() < kMax) by_path_.try_emplace(path, source);
  if (by_module_.size() >= kMax && by_module_.count(module) == 0) return;
  const auto [at, is_new] = by_module_.try_emplace(module, source);
  if (is_new) return;
  PathSource& common = at->second;
  if (common.class_file != source.class_file || common.class_line != source.class_line)
    common.class_file = common.class_line = 0;
  if (common.call_file != source.call_file || common.call_line != source.call_line)
    common.call_file = common.call_line = 0;
}

std::optional<PathSource> PathSources::find(std::uint32_t path) const {
  if (by_module_.empty()) return std::nullopt;
  if (const auto own = by_path_.find(path); own != by_path_.end()) return own->second;
  std::optional<PathSource> found;
  std::uint64_t module = 0;
  while (path != 0) {
    const PathNode node = paths_.node(path);
    module = module_chain(module, node.name);
    if (const auto at = by_module_.find(module); at != by_module_.end()) found = at->second;
    path = node.parent;
  }
  return found && found->known() ? found : std::nullopt;
}

}  // namespace rangefinder
