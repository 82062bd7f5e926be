// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/launch_table.h"

#include <algorithm>
#include <utility>

namespace rangefinder {

LaunchTable::LaunchTable() : slots_(kSlots) {}

void LaunchTable::put(std::uint32_t correlation, WorkKind kind, const LaunchOrigin& origin,
                      bool expect_record, GraphLaunch graph) {
  if (expect_record) ++balance_of(kind).launched;
  store(correlation, kind, origin, expect_record ? State::waiting : State::optional, std::move(graph));
}

void LaunchTable::put_exact(std::uint32_t correlation, WorkKind kind, const LaunchOrigin& origin,
                            bool expect_record, GraphLaunch graph) {
  ++balance_of(kind).launched;
  ++balance_of(kind).exact;
  store(correlation, kind, origin, expect_record ? State::exact_waiting : State::optional, std::move(graph));
}

void LaunchTable::store(std::uint32_t correlation, WorkKind kind, const LaunchOrigin& origin, State state,
                        GraphLaunch graph) {
  const Slot fresh{origin.range, correlation, origin.path, origin.kernel, 0, kind, state};
  if (is_waiting(state)) ++waiting_;
  if (kind == WorkKind::graph) return store_graph(correlation, fresh, std::move(graph));
  Slot& slot = slots_[correlation % kSlots];
  replace(slot);
  slot = fresh;
}

void LaunchTable::store_graph(std::uint32_t correlation, const Slot& fresh, GraphLaunch graph) {
  if (const auto same = graphs_.find(correlation); same != graphs_.end()) erase(same);  // 2^32 launches old
  GraphSlot& slot = graphs_[correlation];
  static_cast<Slot&>(slot) = fresh;
  slot.order = graph_order_.insert(graph_order_.end(), correlation);
  slot.launch = std::move(graph);
  if (const LaunchedGraph* const launched = slot.launch.graph.get(); launched != nullptr)
    executables_[launched->executable()].launches.push_back(correlation);
  if (graphs_.size() > kGraphLaunches) erase(graphs_.find(graph_order_.front()));
}

void LaunchTable::erase(GraphSlots::iterator at) noexcept {
  GraphSlot& slot = at->second;
  replace(slot);
  graph_order_.erase(slot.order);
  const auto executable =
      slot.launch.graph == nullptr ? executables_.end() : executables_.find(slot.launch.graph->executable());
  if (executable != executables_.end()) {
    std::deque<std::uint32_t>& launches = executable->second.launches;
    if (!launches.empty() && launches.front() == at->first) {
      launches.pop_front();  // as a rule
    } else {
      std::erase(launches, at->first);
    }
    if (executable->second.newest_recorded == at->first) executable->second.newest_recorded = 0;
    if (executable->second.newest_recorded == 0 && executable->second.launches.empty())
      executables_.erase(executable);
  }
  graphs_.erase(at);
}

void LaunchTable::note_record(Slot& slot) noexcept {
  if (slot.state == State::waiting || slot.state == State::at_edge) ++balance_of(slot.kind).recorded;
  if (slot.state == State::at_edge) ++balance_of(slot.kind).launched;
  if (is_waiting(slot.state)) --waiting_;
  if (is_waiting(slot.state) || slot.state == State::at_edge) slot.state = State::recorded;
}

// Its first record: the last launch of the same executable is complete.
void LaunchTable::note_graph_record(GraphSlot& slot) {
  note_record(slot);
  if (std::exchange(slot.has_record, true) || slot.launch.graph == nullptr) return;
  std::uint32_t& newest = executables_[slot.launch.graph->executable()].newest_recorded;
  if (newest != 0) done_.push_back(newest);
  newest = slot.correlation;
  while (done_.size() > kept_done_) {
    const auto oldest = graphs_.find(done_.front());
    done_.pop_front();
    if (oldest != graphs_.end() && oldest->second.has_record) erase(oldest);
  }
}

std::optional<LaunchTable::Found> LaunchTable::find(std::uint32_t correlation, bool of_graph,
                                                    std::uint32_t graph) {
  if (of_graph) {
    const auto at = graphs_.find(correlation);
    if (at == graphs_.end()) return std::nullopt;
    GraphSlot& slot = at->second;
    note_graph_record(slot);
    if (slot.graph != graph) slot.graph = slot.graph == 0 ? graph : kSeveralGraphs;
    return Found{{slot.path, slot.range, slot.kernel}, slot.launch.graph.get(), correlation};
  }
  Slot& slot = slots_[correlation % kSlots];
  if (slot.correlation != correlation || slot.state == State::empty) return std::nullopt;
  note_record(slot);
  return Found{{slot.path, slot.range, slot.kernel}, nullptr, correlation};
}

std::uint32_t LaunchTable::last_launch(std::uint32_t executable, std::int64_t start_ns) const {
  const auto at = executables_.find(executable);
  if (at == executables_.end()) return 0;
  const std::deque<std::uint32_t>& launches = at->second.launches;
  const auto before = [&](std::uint32_t launch) {
    return start_ns == kNoTime || graphs_.at(launch).launch.start_ns <= start_ns;
  };
  const auto last = std::find_if(launches.rbegin(), launches.rend(), before);
  return last == launches.rend() ? 0 : *last;
}

std::optional<LaunchTable::Found> LaunchTable::find_body(std::uint32_t executable, std::int64_t start_ns) {
  const std::uint32_t correlation = last_launch(executable, start_ns);
  if (correlation == 0) return std::nullopt;
  const std::deque<std::uint32_t>& launches = executables_.at(executable).launches;
  const auto newer = std::find(launches.begin(), launches.end(), correlation) - launches.begin();
  for (auto older = newer; older >= static_cast<std::ptrdiff_t>(kLateBodies); --older)
    erase(graphs_.find(launches.front()));
  return find(correlation, true, executable);
}

std::optional<LaunchTable::Found> LaunchTable::find_device_launch(std::uint32_t launcher, std::uint32_t graph,
                                                                  std::int64_t start_ns) {
  std::uint32_t correlation = last_launch(launcher, start_ns);
  if (const auto by = device_launches_.find(launcher); correlation == 0 && by != device_launches_.end())
    correlation = by->second;  // the launcher was itself launched from the device
  const auto at = graphs_.find(correlation);
  if (at == graphs_.end()) return std::nullopt;
  if (device_launches_.size() >= kGraphLaunches) device_launches_.clear();
  device_launches_[graph] = correlation;
  const GraphSlot& slot = at->second;
  return Found{{slot.path, slot.range, slot.kernel}, slot.launch.graph.get(), correlation};
}

std::optional<LaunchTable::Launched> LaunchTable::graph_of(std::uint32_t correlation) const {
  const auto at = graphs_.find(correlation);
  if (at == graphs_.end()) return std::nullopt;
  return Launched{at->second.launch.graph, at->second.graph};
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
