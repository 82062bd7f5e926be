// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/findings/findings.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tools/analysis/findings/facts.h"
#include "tools/analysis/findings/finding_context.h"
#include "tools/analysis/findings/finish.h"

namespace rangefinder {
namespace {

/// Fewer iterations are no loop.
constexpr std::size_t kMinIterations = 3;

/// The paths of the loop's range and all paths below them.
std::unordered_set<std::uint32_t> paths_of_loop(const TraceTotals& trace, const Iterations& loop) {
  std::vector<std::uint32_t> ids;
  for (const auto& [id, path] : trace.paths) ids.push_back(id);
  std::sort(ids.begin(), ids.end());  // parents first
  std::unordered_set<std::uint32_t> out;
  for (const std::uint32_t id : ids) {
    if (out.count(trace.parent_of(id)) != 0 || loop.paths.count(id) != 0) out.insert(id);
  }
  return out;
}

Loop loop_of_ranges(const TraceTotals& trace, const Iterations& iterations) {
  Loop loop;
  loop.path = iterations.path;
  loop.start_ns = iterations.instances[1].start_ns;
  loop.end_ns = loop.start_ns;
  for (const Iteration& iteration : iterations.instances)
    loop.end_ns = std::max(loop.end_ns, iteration.end_ns);
  loop.paths = paths_of_loop(trace, iterations);
  return loop;
}

/// Replays of one graph. The host launches them ahead, so their time is that of the GPU.
Loop loop_of_graph(const KernelFacts& kernels, const Iterations& iterations) {
  Loop loop;
  TimeNs start_ns = 0;
  for (const KernelPlace& place : kernels.places()) {
    if (place.graph == 0 || iterations.path != "graph " + std::to_string(place.graph)) continue;
    start_ns = loop.paths.empty() ? place.first_ns : std::min(start_ns, place.first_ns);
    loop.end_ns = std::max(loop.end_ns, place.last_end_ns);
    loop.paths.insert(place.path);
  }
  const std::uint64_t all_ns = elapsed_ns(start_ns, loop.end_ns);
  loop.start_ns = start_ns + static_cast<TimeNs>(all_ns / iterations.instances.size());
  return loop;
}

Loop find_loop(const TraceTotals& trace, const KernelFacts& kernels, const Iterations& iterations) {
  Loop loop;
  const bool of_graph = iterations.rule == IterationRule::graph;
  if (iterations.instances.size() < kMinIterations || (!of_graph && !iterations.by_range())) return loop;
  loop = of_graph ? loop_of_graph(kernels, iterations) : loop_of_ranges(trace, iterations);
  if (loop.paths.empty()) return Loop{};
  loop.count = iterations.instances.size() - 1;
  loop.thread = iterations.instances[1].thread;
  return loop;
}

/// Paths of the loop whose kernels all ran before its second iteration are set-up too.
void drop_first(const Loop& loop, const KernelFacts& kernels, std::unordered_set<std::uint32_t>& paths) {
  std::unordered_map<std::uint32_t, TimeNs> last;
  for (const KernelPlace& place : kernels.places()) {
    TimeNs& end_ns = last.try_emplace(place.path, place.last_end_ns).first->second;
    end_ns = std::max(end_ns, place.last_end_ns);
  }
  for (const auto& [path, end_ns] : last) {
    if (end_ns < loop.start_ns) paths.erase(path);
  }
}

/// Paths beside the loop's whose kernels run in each of its iterations, such as a backward pass without a
/// range.
void add_beside(const Loop& loop, const KernelFacts& kernels, std::unordered_set<std::uint32_t>& paths) {
  for (const KernelPlace& place : kernels.places()) {
    if (place.use.count >= loop.count && place.last_end_ns >= loop.start_ns) paths.insert(place.path);
  }
}

/// Without a loop: the ranges that were opened at least kMinIterations times, those below them, and nodes of
/// graphs. If there are none, all.
std::unordered_set<std::uint32_t> repeated_paths(const TraceTotals& trace, const KernelFacts& kernels) {
  std::unordered_set<std::uint32_t> out, all{0};
  std::unordered_map<std::uint32_t, std::uint64_t> calls;
  for (const PathTotals& row : trace.totals.paths()) calls[row.path] = row.path == 0 ? 0 : row.calls;
  std::vector<std::uint32_t> ids;
  for (const auto& [id, path] : trace.paths) ids.push_back(id);
  std::sort(ids.begin(), ids.end());  // parents first
  for (const std::uint32_t id : ids) {
    all.insert(id);
    const bool repeats = calls[id] >= kMinIterations || out.count(trace.parent_of(id)) != 0;
    if (repeats) out.insert(id);
  }
  for (const KernelPlace& place : kernels.places()) {
    all.insert(place.path);
    if (place.graph != 0) out.insert(place.path);
  }
  return out.empty() ? all : out;
}

/// CUPTI's own part: its callbacks and its record, measured on one thread (docs/internals/measured.md).
constexpr std::uint64_t kCuptiNsOfLaunch = 1'200;

std::optional<std::uint64_t> launch_cost_ns(const std::optional<EndRecord>& end) {
  if (!end || end->own_cost.launch_callback_median_ns == 0) return std::nullopt;
  return 2 * end->own_cost.launch_callback_median_ns + kCuptiNsOfLaunch;  // the median is that of one half
}

/// With --range: keeps what is about a selected path or about a kernel that runs in one.
void keep_selected(const FindingContext& context, std::vector<Finding>& findings) {
  const TraceTotals& trace = context.input.trace;
  if (!trace.in_range) return;
  std::unordered_set<std::string> places;
  for (const std::uint32_t path : trace.in_range->paths) {
    places.insert(context.path_text(path));
    places.insert(numbers_folded(context.path_text(path)));
  }
  std::erase_if(findings, [&places](const Finding& finding) { return places.count(finding.where) == 0; });
}

/// In the scope of the context.
std::vector<Finding> run_rules(const FindingContext& context) {
  std::vector<Finding> out;
  for (const Rule& rule : rule_table()) rule.find(context, out);
  complete_findings(context, out);
  keep_selected(context, out);
  return out;
}

}  // namespace

const Columns FindingRules::kColumns = FindingFacts::kColumns;

FindingRules::FindingRules(const Iterations& iterations, IdleCauses* idle)
    : iterations_(iterations), facts_(std::make_unique<FindingFacts>(iterations, idle)) {}
FindingRules::~FindingRules() = default;

void FindingRules::add(const SelectedRows& rows) {
  facts_->add(rows);
}

void FindingRules::finish(const EachRows& each) {
  facts_->finish();
  if (!facts_->needs_host_times()) return;
  each([this](const SelectedRows& rows) { facts_->add_host_times(rows); });
  facts_->finish_host_times();
}

FindingContext FindingRules::context(const SectionInput& input) {
  const TraceTotals& trace = input.trace;
  facts_->kernels.evaluate(trace, input.values.context().peaks);
  FindingContext out{input, facts_->kernels, facts_->gaps, facts_->log, *facts_, iterations_};
  out.loop = find_loop(trace, facts_->kernels, iterations_);
  out.paths = out.loop.found() ? out.loop.paths : repeated_paths(trace, facts_->kernels);
  out.host_times_hold = !facts_->kernels.any_exact();
  out.launch_cost_ns = launch_cost_ns(trace.end);
  const auto [first, last] = trace.totals.gpu_span();
  out.span_ns = elapsed_ns(first, last) - trace.holds.gap_ns(first, last);
  if (const Loop& loop = out.loop; loop.found()) {
    drop_first(loop, facts_->kernels, out.paths);
    add_beside(loop, facts_->kernels, out.paths);
    const std::uint64_t gap_ns = trace.holds.gap_ns(loop.start_ns, loop.end_ns);
    const std::uint64_t net_ns = trace.holds.net_ns(loop.thread, loop.start_ns, loop.end_ns);
    out.span_ns = net_ns - std::min(net_ns, gap_ns);
  }
  out.set_scope();
  return out;
}

std::vector<Finding> FindingRules::findings(const SectionInput& input) {
  FindingContext scope = context(input);
  std::vector<Finding> out = run_rules(scope);
  cannot_tell_ = rules_without_data(scope);
  if (input.view.all) {
    scope.rest = true;
    scope.set_scope();
    for (Finding& finding : run_rules(scope)) out.push_back(std::move(finding));
  }
  rank_findings(out);
  return out;
}

}  // namespace rangefinder
