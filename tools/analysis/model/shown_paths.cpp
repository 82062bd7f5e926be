// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/shown_paths.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "profiler/attribution/path_totals.h"
#include "profiler/base/iteration_names.h"
#include "profiler/base/path_glob.h"
#include "tools/analysis/model/range_names.h"

namespace rangefinder {
namespace {

/// The parts of "model.layers.0"; empty: not the name of a module.
std::vector<std::string_view> module_parts(std::string_view name) {
  std::vector<std::string_view> out;
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) return out;
  while (true) {
    const std::size_t dot = name.find('.');
    const std::string_view part = name.substr(0, dot);
    const bool word = std::all_of(part.begin(), part.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    });
    if (part.empty() || !word) return {};
    out.push_back(part);
    if (dot == std::string_view::npos) return out;
    name.remove_prefix(dot + 1);
  }
}

bool is_number(std::string_view part) {
  return std::all_of(part.begin(), part.end(),
                     [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
}

}  // namespace

bool matches_path_itself(std::string_view glob, std::string_view path) {
  if (!matches_glob(glob, path)) return false;
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos || !matches_glob(glob, path.substr(0, slash));
}

std::string ShownPaths::text(std::uint32_t shown) const {
  const auto name = [this](std::uint32_t id) -> const std::string& { return levels_[id].path.name; };
  return join_path(shown, name, [this](std::uint32_t id) { return levels_[id].path.parent; });
}

const std::vector<PathRecord>& ShownPaths::add(const PathRecord& path) {
  added_.clear();
  if (path.id == 0) return added_;
  const std::uint32_t shown = ids_.find(path.id);
  if (shown != DenseIds::kNone && !levels_[shown].path.name.empty()) {
    if (!is_omitted(path.id)) added_.push_back(levels_[shown].path);
    return added_;
  }
  const std::uint32_t parent = path.parent < path.id ? id_of(path.parent) : 0;
  std::uint32_t own = parent;
  if (!path.name.empty() && !add_read_name(parent, path, own) && !add_iteration(parent, path, own) &&
      !add_module(parent, path, own))
    own = child(parent, path.domain, path.name, "", levels_[parent].in_iteration);
  if (own == parent) omitted_.insert(path.id);
  ids_.set(path.id, own);
  if (own != parent && (added_.empty() || added_.back().id != own)) added_.push_back(levels_[own].path);
  return added_;
}

std::uint32_t ShownPaths::child(std::uint32_t parent, std::uint32_t domain, std::string name,
                                std::string dotted, bool in_iteration) {
  const auto next = static_cast<std::uint32_t>(levels_.size());
  const auto [at, fresh] = children_.emplace(std::tuple(parent, domain, name), next);
  if (!fresh) return at->second;
  const std::uint32_t depth = levels_[parent].depth + 1;
  levels_.push_back({{next, parent, domain, std::move(name)}, std::move(dotted), depth, in_iteration});
  added_.push_back(levels_.back().path);
  return next;
}

bool ShownPaths::add_read_name(std::uint32_t parent, const PathRecord& path, std::uint32_t& own) {
  const std::optional<NameMeaning> meaning = meaning_of(path.name);
  if (!meaning) return false;
  std::uint32_t at = parent;
  if (meaning->place == NameMeaning::Place::set_up) at = 0;
  if (meaning->place == NameMeaning::Place::in_function) {
    while (at != 0 && levels_[at].kind == Kind::plain) at = levels_[at].path.parent;
    if (levels_[at].kind == Kind::set_up) {
      own = at;
      return true;
    }
    if (at == 0) at = parent;  // no function is around it
  }
  for (const std::string& level : meaning->levels) {
    if (levels_[at].depth >= kMaxPathDepth) break;
    at = child(at, path.domain, level, "", levels_[at].in_iteration || meaning->is_function);
  }
  if (meaning->is_function) levels_[at].kind = Kind::function;
  if (meaning->place == NameMeaning::Place::set_up) levels_[at].kind = Kind::set_up;
  own = at;
  return true;
}

bool ShownPaths::add_iteration(std::uint32_t parent, const PathRecord& path, std::uint32_t& own) {
  if (!glob_.empty()) {
    if (std::string name = name_by_glob(parent, path.name); !name.empty()) {
      own = child(parent, path.domain, std::move(name), path.name, true);
      return true;
    }
  }
  if (levels_[parent].in_iteration) return false;
  std::optional<IterationName> name = iteration_name(path.name);
  if (!name) return false;
  own = child(parent, path.domain, std::move(name->folded), "", !name->epoch);
  return true;
}

/// Empty: the user's glob does not match this path itself. A glob that selects some numbers only, such as
/// "step1?", names the path.
std::string ShownPaths::name_by_glob(std::uint32_t parent, const std::string& name) const {
  const std::string above = parent == 0 ? "" : text(parent) + "/";
  if (!matches_path_itself(glob_, above + name)) return {};
  std::optional<IterationName> iteration = iteration_name(name);
  std::string folded = iteration ? std::move(iteration->folded) : last_number_folded(name);
  if (folded == name || matches_path_itself(glob_, above + folded)) return folded;
  return glob_.substr(glob_.rfind('/') + 1);
}

bool ShownPaths::add_module(std::uint32_t parent, const PathRecord& path, std::uint32_t& own) {
  std::vector<std::string_view> parts = module_parts(path.name);
  if (parts.empty()) return false;
  std::string dotted;
  for (std::uint32_t at = parent; at != 0 && dotted.empty(); at = levels_[at].path.parent) {
    const std::string& prefix = levels_[at].dotted;
    if (!prefix.empty() && path.name.starts_with(prefix + ".")) dotted = prefix;
  }
  const std::size_t inherited = dotted.empty() ? 0 : module_parts(dotted).size();
  const bool relative = inherited == 0 && std::none_of(parts.begin() + 1, parts.end(), is_number);
  const bool in_iteration = levels_[parent].in_iteration;
  if (relative || levels_[parent].depth + parts.size() - inherited > kMaxPathDepth) {
    own = child(parent, path.domain, path.name, path.name, in_iteration);
    return true;
  }
  for (std::size_t i = inherited; i < parts.size(); ++i) {
    dotted += (dotted.empty() ? "" : ".") + std::string(parts[i]);
    // The wrapper of torch.compile is no level of the model.
    if (parts[i] == "_orig_mod") continue;
    own = child(own, path.domain, std::string(parts[i]), dotted, in_iteration);
  }
  return true;
}

std::uint32_t ShownPaths::add_unknown(std::uint32_t recorded) {
  const auto next = static_cast<std::uint32_t>(levels_.size());
  levels_.push_back({{next, 0, 0, ""}, "", 1, false});
  ids_.set(recorded, next);
  return next;
}

}  // namespace rangefinder
