// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/diff/fused_modules.h"

#include <algorithm>
#include <utility>

namespace rangefinder {
namespace {

constexpr std::string_view kBetween = " + ";
constexpr std::string_view kMore = " more";

std::string_view last_component(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

/// Whether one path is the other, or below it.
bool on_one_line(std::string_view x, std::string_view y) noexcept {
  if (x.size() > y.size()) std::swap(x, y);
  return y.starts_with(x) && (y.size() == x.size() || x.empty() || y[x.size()] == '/');
}

}  // namespace

bool FusedModules::is_fused(std::string_view path) noexcept {
  const std::string_view name = last_component(path);
  return name.starts_with('(') && name.ends_with(')') && name.find(kBetween) != std::string_view::npos;
}

void FusedModules::add(const std::string& path) {
  std::string_view name = last_component(path);
  std::string_view parent(path.data(), path.size() - name.size());
  if (!parent.empty()) parent.remove_suffix(1);
  Fused fused{path, {}};
  name = name.substr(1, name.size() - 2);
  while (!name.empty()) {
    const std::size_t end = std::min(name.find(kBetween), name.size());
    std::string part(name.substr(0, end));
    name.remove_prefix(std::min(name.size(), end + kBetween.size()));
    if (name.empty() && part.ends_with(kMore)) part.clear();  // "2 more": modules that the name does not have
    std::replace(part.begin(), part.end(), '.', '/');
    fused.parts.push_back(std::move(part));
  }
  below_[std::string(parent)].push_back(std::move(fused));
}

std::vector<std::string> FusedModules::with_part_of(std::string_view path) const {
  std::vector<std::string> out;
  const auto look = [&](std::string_view parent, std::string_view below) {
    const auto at = below_.find(parent);
    if (at == below_.end()) return;
    for (const Fused& fused : at->second) {
      if (std::any_of(fused.parts.begin(), fused.parts.end(),
                      [below](const std::string& part) { return on_one_line(part, below); }))
        out.push_back(fused.path);
    }
  };
  look({}, path);
  for (std::size_t at = path.find('/'); at != std::string_view::npos; at = path.find('/', at + 1))
    look(path.substr(0, at), path.substr(at + 1));
  return out;
}

}  // namespace rangefinder
