// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/findings/findings.h"

#include <algorithm>
#include <utility>

#include "tools/analysis/findings/rule.h"

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

Loop find_loop(const TraceTotals& trace, const Iterations& iterations) {
  Loop loop;
  if (iterations.instances.size() < kMinIterations || !iterations.by_range()) return loop;
  loop.path = iterations.path;
  loop.count = iterations.instances.size() - 1;
  loop.thread = iterations.instances[1].thread;
  loop.start_ns = iterations.instances[1].start_ns;
  loop.end_ns = loop.start_ns;
  for (const Iteration& iteration : iterations.instances)
    loop.end_ns = std::max(loop.end_ns, iteration.end_ns);
  loop.paths = paths_of_loop(trace, iterations);
  return loop;
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
  for (const std::uint32_t path : trace.in_range->paths) places.insert(context.path_text(path));
  for (const KernelTotals& kernel : trace.selected().kernels())
    places.insert(context.kernel_text(kernel.name));
  std::erase_if(findings, [&places](const Finding& finding) { return places.count(finding.where) == 0; });
}

bool heavier(const Finding& a, const Finding& b) {
  if (a.saving_ns.has_value() != b.saving_ns.has_value()) return a.saving_ns.has_value();
  if (a.saving_ns != b.saving_ns) return *a.saving_ns > *b.saving_ns;
  return a.severity > b.severity;
}

}  // namespace

std::vector<std::unique_ptr<FindingRule>> make_finding_rules() {
  std::vector<std::unique_ptr<FindingRule>> rules;
  for (const auto make : {make_idle_in_range_rule,      make_launch_bound_rule,    make_synchronisation_rule,
                          make_allocations_rule,        make_slow_copies_rule,     make_small_copies_rule,
                          make_exposed_wait_rule,       make_slower_together_rule, make_memory_bound_rule,
                          make_time_follows_bytes_rule, make_amplification_rule,   make_unfused_chain_rule,
                          make_attention_scores_rule,   make_fp32_math_rule,       make_uncoalesced_rule,
                          make_bank_conflicts_rule,     make_spills_rule,          make_small_grid_rule,
                          make_low_occupancy_rule,      make_capture_safety_rule}) {
    rules.push_back(make());
  }
  return rules;
}

struct FindingRules::Impl {
  explicit Impl(const std::string& range) : iteration_range(range) {}

  Iterations find_iterations(const TraceTotals& trace) {
    const bool saw_all = lines == trace.read.given;
    return saw_all ? iterations.result() : rangefinder::find_iterations(trace.files, iteration_range);
  }

  std::string iteration_range;
  std::uint64_t lines = 0;
  IterationFinder iterations{iteration_range};
  KernelFacts kernels;
  GpuGaps gaps;
  EventLog log;
  std::vector<std::unique_ptr<FindingRule>> rules = make_finding_rules();
  JoinedWork joined{[this](const WorkEvent& event) {
    kernels.work(event);
    gaps.work(event, joined.holds());
    log.work(event);
    for (const auto& rule : rules) rule->work(event);
  }};
};

FindingRules::FindingRules(const std::string& iteration_range)
    : impl_(std::make_unique<Impl>(iteration_range)) {}
FindingRules::~FindingRules() = default;

void FindingRules::add(std::unique_ptr<FindingRule> rule) {
  impl_->rules.push_back(std::move(rule));
}

void FindingRules::line(const Line& line) {
  ++impl_->lines;
  impl_->iterations.line(line);
  impl_->kernels.line(line);
  if (const auto* const gap = std::get_if<GapRecord>(&line)) impl_->gaps.unrecorded(*gap);
  impl_->joined.line(line);
  impl_->log.line(line, impl_->joined.holds());
  for (const auto& rule : impl_->rules) rule->line(line);
}

std::vector<Finding> FindingRules::findings(const SectionInput& input) {
  impl_->joined.finish();
  const Iterations iterations = impl_->find_iterations(input.trace);
  FindingContext context{
      input, impl_->kernels, impl_->gaps, impl_->log, iterations, find_loop(input.trace, iterations), true,
      0};
  context.host_times_hold = !impl_->kernels.any_exact();
  const auto [first, last] = input.trace.totals.gpu_span();
  const Holds& holds = input.trace.holds;
  context.span_ns = elapsed_ns(first, last) - holds.gap_ns(first, last);
  if (const Loop& loop = context.loop; loop.found()) {
    const std::uint64_t gap_ns = holds.gap_ns(loop.start_ns, loop.end_ns);
    const std::uint64_t net_ns = impl_->joined.holds().net_ns(loop.thread, loop.start_ns, loop.end_ns);
    context.span_ns = net_ns - std::min(net_ns, gap_ns);
  }
  context.launch_cost_ns = launch_cost_ns(input.trace.end);
  std::vector<Finding> out;
  for (const auto& rule : impl_->rules) rule->find(context, out);
  keep_selected(context, out);
  std::stable_sort(out.begin(), out.end(), heavier);
  return out;
}

}  // namespace rangefinder
