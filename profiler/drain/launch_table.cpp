// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/launch_table.h"

namespace rangefinder {

LaunchTable::LaunchTable() : slots_(kSlots) {}

void LaunchTable::put(std::uint32_t correlation, WorkKind kind, const LaunchOrigin& origin,
                      bool expect_record) {
  if (expect_record) ++balance_of(kind).launched;
  store(correlation, kind, origin, expect_record ? State::waiting : State::optional);
}

void LaunchTable::put_exact(std::uint32_t correlation, WorkKind kind, const LaunchOrigin& origin,
                            bool expect_record) {
  ++balance_of(kind).launched;
  ++balance_of(kind).exact;
  store(correlation, kind, origin, expect_record ? State::exact_waiting : State::optional);
}

void LaunchTable::store(std::uint32_t correlation, WorkKind kind, const LaunchOrigin& origin, State state) {
  Slot fresh{origin.range, correlation, origin.path, origin.kernel, 0, kind, state};
  if (is_waiting(state)) ++waiting_;
  if (kind != WorkKind::graph) {
    Slot& slot = slots_[correlation % kSlots];
    replace(slot);
    slot = fresh;
    return;
  }
  const auto [at, added] = graphs_.try_emplace(correlation);
  replace(at->second);  // a launch with the same id is 2^32 launches old
  at->second = fresh;
  if (added) graph_order_.push_back(correlation);
  if (graph_order_.size() > kGraphLaunches) {
    const auto oldest = graphs_.find(graph_order_.front());
    graph_order_.pop_front();
    replace(oldest->second);
    graphs_.erase(oldest);
  }
}

std::optional<LaunchOrigin> LaunchTable::find(std::uint32_t correlation, bool of_graph, std::uint32_t graph) {
  Slot* slot = nullptr;
  if (of_graph) {
    const auto at = graphs_.find(correlation);
    if (at != graphs_.end()) slot = &at->second;
  } else if (Slot& candidate = slots_[correlation % kSlots]; candidate.correlation == correlation) {
    slot = &candidate;
  }
  if (slot == nullptr || slot->state == State::empty) return std::nullopt;
  if (slot->state == State::waiting) ++balance_of(slot->kind).recorded;
  if (slot->state == State::at_edge) {
    ++balance_of(slot->kind).launched;
    ++balance_of(slot->kind).recorded;
    slot->state = State::recorded;
  }
  if (is_waiting(slot->state)) {
    slot->state = State::recorded;
    --waiting_;
  }
  if (slot->graph != graph) slot->graph = slot->graph == 0 ? graph : kSeveralGraphs;
  return LaunchOrigin{slot->path, slot->range, slot->kernel};
}

std::optional<std::uint32_t> LaunchTable::graph_of(std::uint32_t correlation) const {
  const auto at = graphs_.find(correlation);
  return at == graphs_.end() ? std::nullopt : std::optional(at->second.graph);
}

void LaunchTable::replace(Slot& slot) noexcept {
  if (is_waiting(slot.state)) ++overwritten_;
  close_slot(slot);
}

void LaunchTable::close_slot(Slot& slot) noexcept {
  if (is_waiting(slot.state)) --waiting_;
  if (slot.state == State::waiting) ++balance_of(slot.kind).lost;
  if (slot.state == State::exact_waiting) ++exact_without_record_;
  slot.state = State::empty;
}

void LaunchTable::close() {
  for (Slot& slot : slots_) close_slot(slot);
  for (auto& [correlation, slot] : graphs_) close_slot(slot);
}

}  // namespace rangefinder
