// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/exact/metric_turns.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "profiler/base/iteration_names.h"
#include "profiler/counters/exact/exact_context.h"
#include "profiler/counters/metrics/metric_plan.h"
#include "profiler/events/recorder.h"

namespace rangefinder {

void MetricTurns::arrive(const ExactEntry& entry, std::size_t groups) {
  groups_ = groups;
  if (groups == 1) return;
  const ShownPath path = shown(entry.path);
  const ThreadState* const thread = path.iteration != 0 ? recorder_.threads.current() : nullptr;
  std::uint64_t iteration = thread != nullptr ? thread->stack().open_range(path.iteration) : 0;
  // Open on another thread, whose path was inherited.
  if (iteration == 0) iteration = path.numbered ? path.iteration : entry.range;
  Numbering& number = numbering_[path.id];
  if (std::exchange(number.iteration, iteration) != iteration) number.launches = 0;
  const std::uint64_t launch = std::uint64_t{path.id} << 32 | number.launches++;
  const bool full = launches_.size() >= kMaxLaunches;
  const auto found = launches_.find(launch);
  at_ = found != launches_.end() ? found->second : full ? 0 : launches_.size() + 1;
  if (found == launches_.end() && !full) launches_.emplace(launch, static_cast<std::uint32_t>(at_));
  counts_.resize((launches_.size() + 1) * groups);
  in_range_ = entry.range != 0;
}

bool MetricTurns::is_due(std::size_t group) noexcept {
  if (groups_ == 1 || !in_range_ || early_turns_ == kMaxEarlyTurnsPerGroup * groups_) return false;
  const auto seen = counts();
  if (seen[group] < kTurnLaunches || *std::min_element(seen.begin(), seen.end()) != 0) return false;
  ++early_turns_;
  return true;
}

std::size_t MetricTurns::choose(std::size_t group) const noexcept {
  if (groups_ == 1) return 0;
  const auto seen = counts();
  const auto least = std::min_element(seen.begin(), seen.end());
  const bool stays = seen[group] < kTurnLaunches || seen[group] <= 2 * *least;
  return stays ? group : static_cast<std::size_t>(least - seen.begin());
}

void MetricTurns::count(std::size_t group) noexcept {
  if (groups_ == 1) return;
  std::uint16_t& seen = counts()[group];
  if (seen != std::numeric_limits<std::uint16_t>::max()) ++seen;
}

MetricTurns::ShownPath MetricTurns::shown(std::uint32_t path) {
  if (path == 0) return {};
  if (const auto known = paths_.find(path); known != paths_.end()) return known->second;
  const PathNode node = recorder_.paths.node(path);
  ShownPath out = shown(node.parent);
  const std::string name(recorder_.names.text(node.name));
  const auto iteration = iteration_name(name);
  if (iteration && !iteration->epoch && out.iteration == 0) {
    out.iteration = path;
    out.numbered = iteration->numbered;
  }
  const auto next = static_cast<std::uint32_t>(ids_.size() + 1);
  out.id = ids_.try_emplace({out.id, iteration ? iteration->folded : name, node.domain}, next).first->second;
  return paths_.emplace(path, out).first->second;
}

}  // namespace rangefinder
