// SPDX-License-Identifier: Apache-2.0
#include "profiler/events/node_paths.h"

#include <algorithm>

namespace rangefinder {

std::size_t NodePaths::run_of(std::uint32_t number) const noexcept {
  const auto after = std::upper_bound(runs_.begin(), runs_.end(), number,
                                      [](std::uint32_t n, const Run& run) { return n < run.first; });
  return static_cast<std::size_t>(after - runs_.begin()) - 1;
}

NodeOrigin NodePaths::at(std::uint32_t number) const noexcept {
  return number < size_ ? runs_[run_of(number)].origin : NodeOrigin();
}

std::uint32_t NodePaths::rank(std::uint32_t number) const noexcept {
  std::uint32_t before = 0;
  for (std::size_t i = 0; i < runs_.size() && runs_[i].first < number; ++i) {
    const std::uint32_t end = i + 1 < runs_.size() ? runs_[i + 1].first : size_;
    if (runs_[i].origin != NodeOrigin()) before += std::min(end, number) - runs_[i].first;
  }
  return before;
}

NodeOrigin NodePaths::at_rank(std::uint32_t rank) const noexcept {
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i].origin == NodeOrigin()) continue;
    const std::uint32_t count = (i + 1 < runs_.size() ? runs_[i + 1].first : size_) - runs_[i].first;
    if (rank < count) return runs_[i].origin;
    rank -= count;
  }
  return {};
}

void NodePaths::set(std::uint32_t number, const NodeOrigin& origin) {
  if (number >= size_) {
    if (runs_.capacity() - runs_.size() < 2) runs_.reserve(std::max<std::size_t>(4, runs_.size() * 2));
    if (number > size_ && (runs_.empty() || runs_.back().origin != NodeOrigin()))
      runs_.push_back({size_, NodeOrigin()});
    if (runs_.empty() || runs_.back().origin != origin) runs_.push_back({number, origin});
    size_ = number + 1;
    return;
  }
  const std::size_t at = run_of(number);
  const Run old = runs_[at];
  if (old.origin == origin) return;
  const std::uint32_t end = at + 1 < runs_.size() ? runs_[at + 1].first : size_;
  std::vector<Run> parts;
  if (old.first < number) parts.push_back(old);
  parts.push_back({number, origin});
  if (number + 1 < end) parts.push_back({number + 1, old.origin});
  runs_.reserve(runs_.size() + 2);
  runs_[at] = parts[0];
  runs_.insert(runs_.begin() + static_cast<std::ptrdiff_t>(at) + 1, parts.begin() + 1, parts.end());
}

void NodePaths::forget_ranges() noexcept {
  for (Run& run : runs_) run.origin.range = 0;
}

bool GraphNodes::has_conditionals() const noexcept {
  return std::any_of(holders.begin(), holders.end(), [](const Holder& holder) { return holder.conditional; });
}

void GraphNodes::forget_ranges() noexcept {
  paths.forget_ranges();
  for (Holder& holder : holders) {
    for (Held& held : holder.graphs) held.nodes->forget_ranges();
  }
}

GraphNodes::Holder* GraphNodes::holder(std::uint32_t number) noexcept {
  const auto at = std::find_if(holders.begin(), holders.end(),
                               [number](const Holder& holder) { return holder.number == number; });
  return at == holders.end() ? nullptr : &*at;
}

const GraphNodes::Holder* GraphNodes::holder(std::uint32_t number) const noexcept {
  return const_cast<GraphNodes*>(this)->holder(number);
}

const GraphNodes* LaunchedGraph::updated(std::size_t segment) const noexcept {
  if (segment == 0) return now_.get();
  const NodeSegment& child = (*children_)[segment - 1];
  const GraphNodes* const parent = child.parent < segment ? updated(child.parent) : nullptr;
  const GraphNodes::Holder* const holder = parent == nullptr ? nullptr : parent->holder(child.holder);
  return holder != nullptr && child.place < holder->graphs.size() ? holder->graphs[child.place].nodes.get()
                                                                  : nullptr;
}

const GraphNodes& LaunchedGraph::graph(std::size_t segment) const noexcept {
  const GraphNodes* const now = updated(segment);
  return now != nullptr ? *now : *(*children_)[segment - 1].made;
}

NodeOrigin LaunchedGraph::at(std::uint32_t number) const noexcept {
  std::size_t segment = 0;
  std::uint32_t first = 0;
  if (children_ != nullptr) {
    const auto after =
        std::upper_bound(children_->begin(), children_->end(), number,
                         [](std::uint32_t n, const NodeSegment& child) { return n < child.first; });
    segment = static_cast<std::size_t>(after - children_->begin());
    if (segment != 0) first = (*children_)[segment - 1].first;
  }
  NodeOrigin origin;
  if (segment != 0) {
    origin = graph(segment).paths.at_rank(number - first);
  } else if (made_ == nullptr || made_ == now_) {
    origin = now_->paths.at(number);
  } else if (made_->paths.at(number) != NodeOrigin()) {
    origin = now_->paths.at_rank(made_->paths.rank(number));
  }
  if (renamed_ != nullptr && std::find(renamed_->begin(), renamed_->end(), number) != renamed_->end())
    origin.kernel = 0;
  return origin;
}

NodePaths LaunchedGraph::flat() const {
  NodePaths all;
  std::uint32_t nodes = now_->paths.size();
  if (children_ != nullptr && !children_->empty())
    nodes = children_->back().first + graph(children_->size()).paths.nodes();
  for (std::uint32_t number = 0; number < nodes; ++number) all.set(number, at(number));
  return all;
}

}  // namespace rangefinder
