// SPDX-License-Identifier: Apache-2.0
#include "tools/page/shown_layers.h"

#include <algorithm>
#include <utility>

#include "profiler/base/iteration_names.h"

namespace rangefinder {
namespace {

/// Children with less of their parent's GPU time do not describe it.
constexpr double kMinOfParent = 0.9;
/// Of all GPU time; lighter modules are no layers.
constexpr double kMinShare = 0.002;
/// A path around more of the layers says nothing about one of them.
constexpr double kMaxInside = 0.7;
/// Siblings of the only module of a level.
constexpr std::size_t kMaxSiblings = 64;

struct Node {
  std::uint32_t path = 0;
  std::uint64_t gpu_ns = 0;
  bool complete = false;  // its children do not describe it, or are too many
};

class Tree {
 public:
  explicit Tree(const TraceTotals& part) {
    for (const PathTotals& row : part.totals.paths()) {
      if (row.path == 0 || row.gpu_ns == 0) continue;
      children_[part.parent_of(row.path)].push_back({row.path, row.gpu_ns});
      if (row.depth == 1) all_ns_ += row.gpu_ns;
    }
  }
  /// In order of first appearance.
  [[nodiscard]] std::vector<Node> below(std::uint32_t path) const {
    std::vector<Node> out;
    const auto at = children_.find(path);
    if (at == children_.end()) return out;
    for (const Node& node : at->second) {
      if (static_cast<double>(node.gpu_ns) >= kMinShare * static_cast<double>(all_ns_)) out.push_back(node);
    }
    return out;
  }
  [[nodiscard]] std::vector<Node> start(const std::unordered_set<std::uint32_t>& around) const {
    std::vector<Node> out;
    for (const std::uint32_t path : around) {
      for (const Node& node : below(path)) out.push_back(node);
    }
    return out.empty() ? below(0) : out;
  }

 private:
  std::unordered_map<std::uint32_t, std::vector<Node>> children_;
  std::uint64_t all_ns_ = 0;
};

/// Replaces the heaviest node that its children describe. False: there is none.
bool divide(std::vector<Node>& nodes, const Tree& tree, std::size_t max) {
  const auto heavier = [](const Node& a, const Node& b) {
    return a.complete != b.complete ? a.complete : a.gpu_ns < b.gpu_ns;
  };
  const auto at = std::max_element(nodes.begin(), nodes.end(), heavier);
  if (at == nodes.end() || at->complete) return false;
  const std::vector<Node> below = tree.below(at->path);
  std::uint64_t ns = 0;
  for (const Node& node : below) ns += node.gpu_ns;
  const bool describe = static_cast<double>(ns) >= kMinOfParent * static_cast<double>(at->gpu_ns);
  const std::size_t limit = nodes.size() == 1 ? std::max(max, kMaxSiblings) : max;
  if (below.empty() || !describe || nodes.size() - 1 + below.size() > limit) {
    at->complete = true;
    return true;
  }
  const auto next = nodes.erase(at);
  nodes.insert(next, below.begin(), below.end());
  return true;
}

}  // namespace

ShownLayers::ShownLayers(const TraceTotals& part, const std::unordered_set<std::uint32_t>& around,
                         std::size_t max)
    : part_(part) {
  const Tree tree(part);
  std::vector<Node> nodes = tree.start(around);
  while (divide(nodes, tree, max)) {
  }
  if (nodes.size() > std::max(max, kMaxSiblings)) nodes.resize(std::max(max, kMaxSiblings));
  for (const Node& node : nodes) add(node.path, node.gpu_ns);
}

void ShownLayers::add(std::uint32_t path, std::uint64_t gpu_ns) {
  const std::string family = numbers_folded(part_.path_text(path));
  const auto at = std::find(families_.begin(), families_.end(), family);
  const auto number = static_cast<std::uint32_t>(at - families_.begin());
  if (at == families_.end()) {
    families_.push_back(family);
    members_.push_back(0);
  }
  places_.emplace(path, layers_.size());
  layers_.push_back({path, number, members_[number]++, gpu_ns});
}

std::size_t ShownLayers::of(std::uint32_t path) const {
  if (const auto known = known_.find(path); known != known_.end()) return known->second;
  std::size_t out = kNone;
  for (std::uint32_t at = path; at != 0 && out == kNone; at = part_.parent_of(at)) {
    if (const auto found = places_.find(at); found != places_.end()) out = found->second;
  }
  known_.emplace(path, out);
  return out;
}

std::vector<std::uint32_t> ShownLayers::chain(std::size_t layer) const {
  const auto around_most = [this](std::uint32_t path) {
    const auto inside = std::count_if(layers_.begin(), layers_.end(), [&](const Layer& one) {
      std::uint32_t up = one.path;
      while (up != 0 && up != path) up = part_.parent_of(up);
      return up == path;
    });
    return static_cast<double>(inside) > kMaxInside * static_cast<double>(layers_.size());
  };
  std::uint32_t top = layers_[layer].path;
  for (std::uint32_t up = part_.parent_of(top); up != 0 && !around_most(up); up = part_.parent_of(up))
    top = up;
  if (top == layers_[layer].path) return {top};
  return {top, layers_[layer].path};
}

}  // namespace rangefinder
