// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/findings/findings.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tools/analysis/findings/finish.h"
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

}  // namespace

std::vector<std::unique_ptr<FindingRule>> make_finding_rules() {
  std::vector<std::unique_ptr<FindingRule>> rules;
  for (const auto make :
       {make_idle_in_range_rule,      make_launch_bound_rule,        make_synchronisation_rule,
        make_allocations_rule,        make_slow_copies_rule,         make_small_copies_rule,
        make_exposed_wait_rule,       make_slower_together_rule,     make_memory_bound_rule,
        make_time_follows_bytes_rule, make_amplification_rule,       make_slower_than_roofs_rule,
        make_unfused_chain_rule,      make_attention_scores_rule,    make_fp32_math_rule,
        make_uncoalesced_rule,        make_low_tensor_use_rule,      make_stalls_rule,
        make_divergence_rule,         make_bank_conflicts_rule,      make_spills_rule,
        make_tail_wave_rule,          make_low_occupancy_rule,       make_small_grid_rule,
        make_graph_below_peak_rule,   make_small_graph_kernels_rule, make_capture_safety_rule}) {
    rules.push_back(make());
  }
  return rules;
}

struct FindingRules::Impl {
  explicit Impl(const std::string& range) : iteration_range(range), finder(std::in_place, range) {}
  explicit Impl(const Iterations& iterations) : known(&iterations) {}

  /// Call it once.
  const Iterations& iterations(const TraceTotals& trace) {
    if (known != nullptr) return *known;
    const bool saw_all = lines == trace.read.given;
    found = saw_all ? finder->result() : find_iterations(trace.files, iteration_range);
    return found;
  }

  /// In the scope of the context.
  std::vector<Finding> find(FindingContext& context) const {
    context.set_scope();
    std::vector<Finding> out;
    for (const auto& rule : rules) rule->find(context, out);
    complete_findings(context, out);
    keep_selected(context, out);
    return out;
  }

  std::string iteration_range;
  std::uint64_t lines = 0;
  const Iterations* known = nullptr;
  std::optional<IterationFinder> finder;  // empty: they are known
  Iterations found;
  KernelFacts kernels;
  GpuGaps gaps;
  EventLog log;
  std::vector<CannotTell> cannot_tell;
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
FindingRules::FindingRules(const Iterations& iterations) : impl_(std::make_unique<Impl>(iterations)) {}
FindingRules::~FindingRules() = default;

void FindingRules::add(std::unique_ptr<FindingRule> rule) {
  impl_->rules.push_back(std::move(rule));
}

void FindingRules::line(const Line& line) {
  ++impl_->lines;
  if (impl_->finder) impl_->finder->line(line);
  impl_->kernels.line(line);
  if (const auto* const gap = std::get_if<GapRecord>(&line)) impl_->gaps.unrecorded(*gap);
  impl_->joined.line(line);
  impl_->log.line(line, impl_->joined.holds());
  for (const auto& rule : impl_->rules) rule->line(line);
}

std::vector<Finding> FindingRules::findings(const SectionInput& input) {
  impl_->joined.finish();
  const TraceTotals& trace = input.trace;
  const Iterations& iterations = impl_->iterations(trace);
  impl_->kernels.evaluate(trace.totals.kernels(), input.values.context().peaks);
  FindingContext context{input, impl_->kernels, impl_->gaps, impl_->log, iterations};
  context.loop = find_loop(trace, impl_->kernels, iterations);
  context.paths = context.loop.found() ? context.loop.paths : repeated_paths(trace, impl_->kernels);
  context.host_times_hold = !impl_->kernels.any_exact();
  context.launch_cost_ns = launch_cost_ns(trace.end);
  const auto [first, last] = trace.totals.gpu_span();
  context.span_ns = elapsed_ns(first, last) - trace.holds.gap_ns(first, last);
  if (const Loop& loop = context.loop; loop.found()) {
    drop_first(loop, impl_->kernels, context.paths);
    add_beside(loop, impl_->kernels, context.paths);
    const std::uint64_t gap_ns = trace.holds.gap_ns(loop.start_ns, loop.end_ns);
    const std::uint64_t net_ns = impl_->joined.holds().net_ns(loop.thread, loop.start_ns, loop.end_ns);
    context.span_ns = net_ns - std::min(net_ns, gap_ns);
  }
  std::vector<Finding> out = impl_->find(context);
  impl_->cannot_tell = rules_without_data(context);
  if (input.view.all) {
    context.rest = true;
    for (Finding& finding : impl_->find(context)) out.push_back(std::move(finding));
  }
  rank_findings(out);
  return out;
}

const std::vector<CannotTell>& FindingRules::cannot_tell() const noexcept {
  return impl_->cannot_tell;
}

}  // namespace rangefinder
