// SPDX-License-Identifier: Apache-2.0
//
// TotalsBuilder's other half: what rows say where metric sets take turns, and metrics by path.
#include <algorithm>

#include "profiler/attribution/path_totals.h"

namespace rangefinder {
namespace {

// Over the sets that all groups of the path were measured with.
bool differs(const double* ns, std::size_t sets, std::uint64_t missing, const std::vector<bool>& used) {
  double least = 0, most = 0;
  bool any = false;
  for (std::size_t i = 0; i < sets; ++i) {
    if (!used[i] || (missing >> i & 1) != 0) continue;
    least = any ? std::min(least, ns[i]) : ns[i];
    most = std::max(most, ns[i]);
    any = true;
  }
  return any && most > least * (1 + kUnstable);
}

}  // namespace

// `order` is parents first, without [0]; rows[0] is what was launched outside of any range.
void TotalsBuilder::add_rotation(const std::vector<std::uint32_t>& order,
                                 std::vector<PathTotals>& rows) const {
  const std::size_t sets = groups_.sets().size();
  std::vector<BytesEstimate> estimates = groups_.estimates(nodes_.size());
  MetricGroups::SetTimes times = groups_.set_times(nodes_.size());
  for (auto it = order.rbegin(); it != order.rend(); ++it) {  // children first
    const std::uint32_t parent = nodes_[*it].parent;
    if (parent == 0) continue;
    estimates[parent] += estimates[*it];
    times.missing[parent] |= times.missing[*it];
    for (std::size_t set = 0; set < sets; ++set) {
      times.ns[parent * sets + set] += times.ns[*it * sets + set];
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    PathTotals& row = rows[i];
    if (row.counters.launches == 0) continue;
    row.estimate = estimates[i];
    // Work outside of exact windows is in no group.
    row.has_estimate = estimates[i].complete && row.records_without_exact + row.nodes_without_bytes() == 0 &&
                       row.counters.with_bytes < row.counters.launches;
    row.missing_sets = times.missing[i];
    row.unstable = differs(times.ns.data() + i * sets, sets, times.missing[i], groups_.used_sets());
  }
}

std::unordered_map<std::uint32_t, std::vector<MetricValue>> TotalsBuilder::path_metrics() const {
  std::unordered_map<std::uint32_t, std::vector<MetricValue>> out;
  if (!groups_.any_metrics()) return out;
  std::vector<std::vector<MetricValue>> metrics = groups_.metrics(nodes_.size());
  const std::vector<std::uint32_t> order = parents_first();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const std::uint32_t parent = nodes_[*it].parent;
    if (parent != 0) groups_.merge(metrics[parent], metrics[*it]);
    // Complete now: nothing below it is left.
    if (!metrics[*it].empty()) out.emplace(nodes_[*it].own.path, std::move(metrics[*it]));
    metrics[*it] = {};
  }
  if (!metrics[0].empty()) out.emplace(0, std::move(metrics[0]));
  return out;
}

}  // namespace rangefinder
